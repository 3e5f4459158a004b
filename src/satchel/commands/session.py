"""One call of one segment: which engine answers, how fresh it must be, and what was done about it.

Every surface runs its commands through a session: the command line, the Command API, all servers, and the
items of a batch. Freshness, the rebuild of an index that cannot be read, what to do after an error and the
query log are here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args, get_type_hints

import msgspec
from msgspec import Meta

from satchel import plugins, tokenizers
from satchel.commands.command import Command, LocalPath
from satchel.commands.freshness import (
    DEFAULT_REINDEX_MS,
    BoundedFreshener,
    Freshener,
    IndexStateItem,
    ReindexItem,
    ReindexResult,
    StalePolicy,
    check_freshness,
    index_state,
)
from satchel.commands.payloads import check_depth
from satchel.errors import (
    IndexCorrupt,
    IndexMissing,
    IndexProblem,
    IndexStale,
    InvalidBudget,
    InvalidRequest,
    PathNotAllowed,
    SatchelError,
)
from satchel.indexing.index_state import StaleReason
from satchel.plugins import late
from satchel.types import AnchorPolicy

if TYPE_CHECKING:
    from satchel.commands import query_log
    from satchel.commands.pack_formats import PackFormats
    from satchel.engine import Engine
else:
    query_log = late("satchel.commands.query_log")  # few users want a log


_SHARED = ("include_paths", "exclude_paths", "file_pattern", "anchor_policy")
_CURED_BY_INDEX = (IndexMissing, IndexStale, IndexCorrupt)
# The fields of a request that a detail of the error is a value for.
_FIELDS = {
    "min_tokens": ("budget_tokens", "budget"),
    "min_chars": ("max_chars",),
    "max_tokens": ("budget_tokens", "budget"),
    "max_chars": ("max_chars",),
}


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
    """Runs the commands of one call on one engine, which the caller knows as `project`.

    Everything inside `with session:` is answered from one generation of the index, and so is the index state
    that goes with the answer. `formats` are those that packs are written in; the surface hands them in,
    because they stand above the commands. A `remote` caller names no files of this machine.
    """

    def __init__(
        self,
        engine: Engine,
        formats: PackFormats,
        options: CallOptions | None = None,
        *,
        freshener: Freshener | None = None,
        remote: bool = False,
        project: str = "",
    ) -> None:
        self.engine = engine
        self.formats = formats
        self.options = options or CallOptions()
        self.remote = remote
        self.project = project
        self.warnings: list[str] = []
        self._freshener: Freshener = freshener or BoundedFreshener()
        self._reindex: ReindexItem | None = None
        self._gated = False
        self._unreadable = False  # found by reading, where the watermark alone looks fresh
        self._answering = engine.answering(self._freshener.known_state())

    def __enter__(self) -> Self:
        self._answering.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._answering.__exit__(*error)

    def call(self, action: str, payload: dict[str, Any], given: Mapping[str, Any] | None = None) -> Any:
        """Return the answer to one action. `given` is the payload of the caller, if it was changed on its way
        here."""
        command: Command = plugins.load("command", action)
        return self.run(command, self.request(command, payload), payload if given is None else given)

    def run(self, command: Command, request: Any, given: Mapping[str, Any]) -> Any:
        """Return the answer of a command. Its error says as the next action which call would work, made of
        what was `given` in this one."""
        self.engine.token.check()  # between the items of a batch, nothing else does
        if command.of_one_folder and not self.engine.is_one_folder:
            raise InvalidRequest(f"{command.name} works on one folder", hint="name that of one repository")
        try:
            if command.fresh and not getattr(request, "ref", ""):
                self._gate()
            return self._run(command, request)
        except InvalidBudget as error:
            project = {"project": self.project} if self.project else {}
            raise with_retry(error, command.name, {**given, **project}) from None
        except IndexProblem as error:
            raise with_index_first(error, self.project) from None

    def log_query(self, action: str, query: Any, response: Any, started: float) -> None:
        """Note what was asked and what came of it, if the user wants a log."""
        if self.engine.options.query_log:
            query_log.record(self.engine, action, query, response, started)

    def request(self, command: Command, payload: dict[str, Any]) -> Any:
        """Return the payload as the command takes it, with the path filters of the call."""
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
        """Return how the index stands to its tree, and what was done about it."""
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
            response = run(self if command.takes_session else self.engine, request)
        except IndexCorrupt as error:  # only reading shows that a page is broken
            self._rebuild(error)
            response = run(self if command.takes_session else self.engine, request)
        if self.engine.last_refresh is not before:  # the action made an index: what follows looks again
            self._gated = self._unreadable = False
        return response

    def _rebuild(self, problem: IndexCorrupt) -> None:
        """Build a new index for one that cannot be read, if the policy and the budget of the caller allow it.
        As any reindex, it is told and has its time."""
        policy, budget = self.options.stale_policy, self.options.max_reindex_ms
        if policy is not StalePolicy.AUTO or not budget:
            self._unreadable = True
            raise problem
        self._reindex = self._freshener.rebuild(self.engine, problem, budget)
        if self._reindex.performed or self._falls_back():
            return
        check_freshness(policy, self.engine.state(), self._reindex, self._freshener.busy_with())
        raise problem

    def _gate(self) -> None:
        """Bring the index up to date before the first action that needs it, and again after one that made it.
        What the caller should know of an index that stays stale becomes a warning."""
        if self._gated:
            return
        policy, budget = self.options.stale_policy, self.options.max_reindex_ms
        if policy is StalePolicy.AUTO and budget:
            found = self._freshener.freshen(self.engine, budget)
            self._warn(self._freshener.warning)
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
            self._warn(check_freshness(policy, state, self._reindex, self._freshener.busy_with()))
        self._gated = True

    def _warn(self, warning: str) -> None:
        if warning and warning not in self.warnings:
            self.warnings.append(warning)

    def _falls_back(self) -> bool:
        """Return whether the files were read into an index that lasts as long as the call, because none can
        be kept and the caller allows it."""
        failed = self._reindex is not None and self._reindex.result is ReindexResult.FAILED
        if not failed or not self.options.allow_filesystem_fallback:
            return False
        engine = self.engine.in_memory()
        found = BoundedFreshener().freshen(engine, self.options.max_reindex_ms)
        if found is None or not found.performed:
            return False
        self.engine = engine
        self.warnings.append("no index could be kept: this answer was made from the files themselves")
        return True


def refuse_local_paths(command: Command, request: Any) -> None:
    """Raise an error for a request that names a file of the machine. Only the command line may: a caller from
    elsewhere hands over the content."""
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


def with_retry(error: SatchelError, action: str, arguments: Mapping[str, Any]) -> SatchelError:
    """Return the error; if a budget is too small, the same call with one that works is its next action."""
    if not isinstance(error, InvalidBudget) or error.next_actions:
        return error
    command: Command = plugins.load("command", action)
    usable = {
        field: error.details[name]
        for name, fields in _FIELDS.items()
        if name in error.details
        for field in fields
        if field in command.request.__struct_fields__
    }
    if usable:
        told = " and ".join(f"{name} {value}" for name, value in usable.items())
        error.next_actions = [
            {"tool": action, "args": {**arguments, **usable}, "reason": f"{told} can be used"}
        ]
    return error


def with_index_first(error: IndexProblem, project: str) -> IndexProblem:
    """Return the error; if an index would cure it, the call that makes one is its next action. The call names
    the project, because without it whatever folder is the default would be indexed."""
    if isinstance(error, _CURED_BY_INDEX) and not error.next_actions:
        arguments: dict[str, Any] = {"project": project} if project else {}
        if isinstance(error, IndexCorrupt):  # what is kept may be what cannot be read
            arguments["force"] = True
        reason = "build the index, however long it takes"
        error.next_actions = [{"tool": "index", "args": arguments, "reason": reason}]
    return error
