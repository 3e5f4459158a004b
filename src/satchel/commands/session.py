"""One call of one segment: which engine answers, how fresh it must be, and what was done about it.

Every surface that speaks the Command API, and the batch, run their actions through here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args, get_type_hints

import msgspec
from msgspec import Meta

from satchel import plugins, tokenizers
from satchel.commands.command import Command, LocalPath
from satchel.commands.freshness import (
    DEFAULT_REINDEX_MS,
    Bounded,
    Freshener,
    IndexStateItem,
    ReindexItem,
    ReindexResult,
    StalePolicy,
    check,
    index_state,
    rebuilt,
)
from satchel.commands.next_actions import with_index_first
from satchel.commands.payloads import check_depth
from satchel.errors import IndexCorrupt, IndexProblem, InvalidRequest, PathNotAllowed
from satchel.indexing.freshness import StaleReason
from satchel.types import AnchorPolicy

if TYPE_CHECKING:
    from satchel.engine import Engine

_SHARED = ("include_paths", "exclude_paths", "file_pattern", "anchor_policy")


class CallOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every action of the Command API can be told; the path filters are for those that have them."""

    anchor_policy: AnchorPolicy = AnchorPolicy.AUTO
    stale_policy: StalePolicy = StalePolicy.AUTO
    max_reindex_ms: Annotated[int, Meta(ge=0, le=3_600_000)] = DEFAULT_REINDEX_MS
    allow_filesystem_fallback: bool = False
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    file_pattern: str = ""


class Session:
    """Runs the actions of one call on one engine, which the caller knows as `project`.

    Everything inside `with session:` is answered from one generation of the index, and so is the index state
    that goes with the answer. A `remote` caller names no files of this machine.
    """

    def __init__(
        self,
        engine: Engine,
        options: CallOptions | None = None,
        *,
        freshener: Freshener | None = None,
        remote: bool = False,
        project: str = "",
    ) -> None:
        self.engine = engine
        self.options = options or CallOptions()
        self.remote = remote
        self.project = project
        self.warnings: list[str] = []
        self._freshener = freshener or Bounded()
        self._reindex: ReindexItem | None = None
        self._gated = False
        self._unreadable = False  # found by reading, where the watermark alone looks fresh
        self._answering = engine.answering(self._freshener.known_state())

    def __enter__(self) -> Self:
        self._answering.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._answering.__exit__(*error)

    def call(self, action: str, payload: dict[str, Any]) -> Any:
        """The answer to one action."""
        if self.engine.poll is not None:  # between the actions of a batch, nothing else asks
            self.engine.poll()
        command: Command = plugins.load("command", action)
        request = self.request(command, payload)
        try:
            if command.fresh and not getattr(request, "ref", ""):
                self._gate()
            return self._run(command, request)
        except IndexProblem as error:
            raise with_index_first(error, self.project) from None

    def request(self, command: Command, payload: dict[str, Any]) -> Any:
        """The payload as the command takes it, with the path filters of the call."""
        check_depth(payload)  # also of what references brought
        try:
            request = msgspec.convert({**self._defaults(command, payload), **payload}, command.request)
        except msgspec.ValidationError as error:
            raise InvalidRequest(
                f"{command.name}: {error}",
                hint=f"fields: {', '.join(command.request.__struct_fields__)}",
            ) from None
        if self.remote:
            refuse_local_paths(command, request)
        return request

    def state(self) -> IndexStateItem:
        """How the index stands to its tree, and what was done about it."""
        state = msgspec.structs.replace(index_state(self.engine), reindex=self._reindex)
        if self._unreadable:
            reasons = (StaleReason.INDEX_CORRUPT.value,)
            return msgspec.structs.replace(state, stale=True, stale_reasons=reasons)
        return state

    def _defaults(self, command: Command, payload: dict[str, Any]) -> dict[str, Any]:
        fields = command.request.__struct_fields__
        shared = {name: getattr(self.options, name) for name in _SHARED if name in fields}
        excluded = payload.get("exclude_paths")
        if "exclude_paths" in shared and isinstance(excluded, list):  # what either leaves out is left out
            payload["exclude_paths"] = [*shared["exclude_paths"], *excluded]
        return {name: value for name, value in shared.items() if value}

    def _run(self, command: Command, request: Any) -> Any:
        before = self.engine.last_refresh
        run: Callable[[Any, Any], Any] = command.run
        try:
            response = run(self if command.composes else self.engine, request)
        except IndexCorrupt as error:  # only reading shows that a page is broken
            self._rebuild(error)
            response = run(self if command.composes else self.engine, request)
        if self.engine.last_refresh is not before:  # the action made an index: what follows looks again
            self._gated = self._unreadable = False
        return response

    def _rebuild(self, problem: IndexCorrupt) -> None:
        """A new index for one that cannot be read, if the caller's policy and budget allow it: as any
        reindex, it is told and has its time."""
        policy, budget = self.options.stale_policy, self.options.max_reindex_ms
        if policy is not StalePolicy.AUTO or not budget:
            self._unreadable = True
            raise problem
        self._reindex = rebuilt(self.engine, problem, budget)
        if self._reindex.performed or self._falls_back():
            return
        check(policy, self.engine.state(), self._reindex, self._freshener.busy_with())
        raise problem

    def _gate(self) -> None:
        """Right before the first action that needs an index, and again after one that made it."""
        if self._gated:
            return
        policy, budget = self.options.stale_policy, self.options.max_reindex_ms
        if policy is StalePolicy.AUTO and budget:
            found = self._freshener.freshen(self.engine, budget)
            self._reindex = found or self._reindex
            if found is None or found.performed:
                self._gated = True
                return
        elif policy is StalePolicy.AUTO:
            self._reindex = ReindexItem(
                attempted=False, performed=False, budget_ms=0, duration_ms=0, result=ReindexResult.SKIPPED
            )
        if not self._falls_back():
            state = self.engine.state()
            if state.exists and not state.readable:
                self.engine.snapshot()  # raises what is wrong with it: no answer can be made from it
            warning = check(policy, state, self._reindex, self._freshener.busy_with())
            self.warnings += [warning] if warning and warning not in self.warnings else []
        self._gated = True

    def _falls_back(self) -> bool:
        """Where no index can be kept, the files are read into one that lasts as long as the call."""
        failed = self._reindex is not None and self._reindex.result is ReindexResult.FAILED
        if not failed or not self.options.allow_filesystem_fallback:
            return False
        engine = self.engine.in_memory()
        found = Bounded().freshen(engine, self.options.max_reindex_ms)
        if found is None or not found.performed:
            return False
        self.engine = engine
        self.warnings.append("no index could be kept: this answer was made from the files themselves")
        return True


def refuse_local_paths(command: Command, request: Any) -> None:
    """A file is named on the command line alone: who calls from elsewhere hands over the content."""
    hints = get_type_hints(command.request, include_extras=True)
    for name in command.request.__struct_fields__:
        marks = [note for note in get_args(hints[name]) if isinstance(note, LocalPath)]
        value = getattr(request, name)
        if marks and value and not (marks[0].or_name and not tokenizers.is_path(value)):
            raise PathNotAllowed(
                f"{name} names a file of the machine, which only the command line may",
                hint=f"leave {name} out" if not marks[0].or_name else "name a built-in tokenizer",
                details={"field": name},
            )
