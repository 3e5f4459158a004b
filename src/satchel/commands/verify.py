"""`satchel verify`: check whether the citations of a pack are still true."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
from msgspec import Meta

from satchel import plugins, tokenizers
from satchel.commands.command import Command, GitName, Group, LocalPath, Positional, Verbatim
from satchel.commands.pack_formats import PackFormats
from satchel.errors import IndexBusy, InvalidRequest, PathNotAllowed, RefNotFound
from satchel.packing.pack import WORK_TREE, Pack
from satchel.storage.protocol import Snapshot
from satchel.types import Skipped, SkipReason, Source
from satchel.verifying import saved_pack
from satchel.verifying.json_pack import JsonPack, read_json
from satchel.verifying.json_refreshing import refresh_json, refresh_layers
from satchel.verifying.refreshing import RefreshedPack, refresh_text
from satchel.verifying.relocation import CitedTree
from satchel.verifying.saved_pack import CitedPack, one_line_each
from satchel.verifying.verification import CitationCheck, State, verify
from satchel.walking.paths import check_relative
from satchel.walking.sensitive_names import is_sensitive

if TYPE_CHECKING:
    from satchel.commands.session import Session
    from satchel.engine import Engine


STANDARD_INPUT = "-"
_STAGED = "staged"


class VerifyRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pack: Annotated[
        str, Meta(description="the pack: a file, or - for standard input"), Positional(), LocalPath()
    ] = ""
    ref: Annotated[
        str, Meta(description="check against this commit, branch or tag, or worktree"), GitName()
    ] = ""
    refresh: Annotated[bool, Meta(description="write the pack as it is now")] = False
    output: Annotated[str, Meta(description="with --refresh: write here, not over the pack"), LocalPath()] = (
        ""
    )
    tokenizer: Annotated[
        str, Meta(description="with --refresh: count its tokens by this one"), LocalPath(or_name=True)
    ] = ""
    text: Annotated[str, Meta(description="the pack itself, instead of a file")] = ""


class VerifyItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A citation and what became of it. `new_…` tell where its text, or what has its name, is now."""

    path: str
    start_line: int
    end_line: int
    state: State
    detail: str = ""
    ref: str = ""  # if it is not the work tree
    new_path: str = ""
    new_start_line: int = 0
    new_end_line: int = 0


class VerifyResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`left_out` is what the refreshed pack no longer holds; `refreshed` is that pack, if there is no file to
    write it to."""

    ok: bool
    format: str
    query: str
    counts: dict[str, int]
    items: list[VerifyItem]
    written: str = ""
    left_out: list[str] = msgspec.field(default_factory=list)
    refreshed: Annotated[str, Verbatim()] = ""


class _ParsedPack(NamedTuple):
    """A pack that was read, and the functions of its format."""

    text: str
    cited: CitedPack
    json: JsonPack | None = None
    show: Callable[[str], str] = one_line_each
    render: Callable[[Pack], str] | None = None


def run(session: Session, request: VerifyRequest) -> VerifyResponse:
    """Check every citation of a pack against the files of now, or against a commit.

    Takes a pack in any format. Each citation is true, moved (found again, with its new lines), changed or
    gone; exits with 1 when not all are true. --refresh writes the corrected pack.
    """
    pack = _parse(_text(request), session.formats)
    target = request.output or ("" if request.pack == STANDARD_INPUT else request.pack)
    with ExitStack() as opened:
        own = [Path(name) for name in (request.pack, request.output) if name]
        trees = CitedTrees(session.engine, pack.show, request.ref, opened, own)
        if request.ref:
            pack = _at(pack, trees.label)
        checks = verify(pack.cited.citations, trees.of)
        new = _refreshed(pack, checks, trees, request.tokenizer) if request.refresh else None
    ok = all(check.state is State.TRUE for check in checks)
    is_unchanged = ok and not request.output and not request.ref
    if new is not None and target and not is_unchanged:
        saved_pack.replace_file(Path(target), new.text)
    return VerifyResponse(
        ok=ok,
        format=pack.cited.format,
        query=pack.cited.query,
        counts={state.value: sum(check.state is state for check in checks) for state in State},
        items=[_item(check) for check in checks],
        written=target if new is not None and not is_unchanged else "",
        left_out=new.left_out if new is not None else [],
        refreshed=new.text if new is not None and not target else "",
    )


def _text(request: VerifyRequest) -> str:
    """Return the text of the pack, from the request, a file or standard input."""
    if bool(request.pack) == bool(request.text):
        raise InvalidRequest("a pack is a file or a text, one of them", hint="satchel verify FILE")
    if request.output and not request.refresh:
        raise InvalidRequest("--output is where --refresh writes to", hint="add --refresh")
    if request.text:
        return request.text
    if request.pack == STANDARD_INPUT:
        return saved_pack.read_stream(sys.stdin.buffer)
    return saved_pack.read_file(Path(request.pack))


def _parse(text: str, formats: PackFormats) -> _ParsedPack:
    """Parse a pack of any format."""
    json_pack = read_json(text)
    if json_pack is not None:
        return _ParsedPack(text, json_pack.cited, json_pack)
    for name in formats.names():
        renderer = formats.get(name)
        cited = renderer.read(text)
        if cited is not None:
            return _ParsedPack(text, cited, None, renderer.show, renderer.render)
    raise InvalidRequest(
        "this is a pack in no known format, or its head was cut off",
        hint=f"formats: {', '.join(formats.names())}, and the file that `satchel build` writes",
    )


def _at(pack: _ParsedPack, ref: str) -> _ParsedPack:
    """Return the pack with every citation at that ref."""
    moved = tuple(msgspec.structs.replace(citation, ref=ref) for citation in pack.cited.citations)
    cited = msgspec.structs.replace(pack.cited, ref=ref, citations=moved)
    return pack._replace(cited=cited, json=pack.json and msgspec.structs.replace(pack.json, cited=cited))


def _refreshed(
    pack: _ParsedPack, checks: list[CitationCheck], trees: CitedTrees, tokenizer: str
) -> RefreshedPack:
    """Return the corrected pack in the format of the given one."""
    cited = pack.cited
    if pack.json is not None and cited.format == "layers":
        return refresh_layers(pack.text, pack.json, checks, trees.index(cited.ref), datetime.now(UTC))
    # Without the option the tokenizer is found by name alone: a pack must not make us open a file.
    counting = (
        tokenizers.get(tokenizer)
        if tokenizer
        else plugins.load("tokenizer", cited.tokenizer or tokenizers.DEFAULT_BUDGET)
    )
    if pack.json is not None:
        return refresh_json(pack.text, pack.json, checks, trees.of, counting)
    assert pack.render is not None
    return refresh_text(cited, checks, trees.of, pack.render, counting)


def _item(check: CitationCheck) -> VerifyItem:
    """Return the check of a citation as the response has it."""
    one, now = check.citation, check.now
    cited = (one.path, one.start_line, one.end_line)
    new = now if now is not None and tuple(now) != cited else None
    return VerifyItem(
        path=one.path,
        start_line=one.start_line,
        end_line=one.end_line,
        state=check.state,
        detail=check.detail,
        ref="" if one.ref == WORK_TREE else one.ref,
        new_path=new.path if new else "",
        new_start_line=new.start_line if new else 0,
        new_end_line=new.end_line if new else 0,
    )


class CitedTrees:
    """The files of every ref that a pack cites, or of the one ref that is asked for.

    The files `own` are the pack itself, which only quotes its sources.
    """

    def __init__(
        self,
        engine: Engine,
        show: Callable[[str], str],
        ref: str,
        opened: ExitStack,
        own: Sequence[Path] = (),
    ) -> None:
        files = [path.resolve() for path in own]
        self._own = {
            path.relative_to(engine.root).as_posix() for path in files if path.is_relative_to(engine.root)
        }
        self._engine = engine
        self._show = show
        self._opened = opened
        self._engines: dict[str, Engine] = {WORK_TREE: engine}
        self._trees: dict[str, CitedTree] = {}
        self.label = self._at(ref).ref if ref else ""
        if ref:
            self._engines[self.label] = self._engines[ref]

    def of(self, ref: str) -> CitedTree:
        """Return the files of a ref; for an unknown commit every file is reported as unreadable."""
        if ref not in self._trees:
            try:
                engine = self._at(ref)
            except RefNotFound as error:
                self._trees[ref] = CitedTree(_unreadable(error.message), lambda: None, self._show)
            else:
                self._trees[ref] = CitedTree(_reader(engine, self._own), lambda: _index(engine), self._show)
        return self._trees[ref]

    def index(self, ref: str) -> Snapshot:
        """Return the index of a ref, brought up to date."""
        engine = self._at(ref)
        engine.ensure_fresh()
        return engine.snapshot()

    def _at(self, ref: str) -> Engine:
        """Return the engine of a ref, opened once."""
        if ref not in self._engines:
            engine = self._engine.staged() if ref == _STAGED else self._engine.at(ref)
            self._engines[ref] = self._opened.enter_context(engine)
        return self._engines[ref]


def _reader(engine: Engine, own: Collection[str]) -> Callable[[str], Source | Skipped]:
    """Return a function that reads files of the root, but none outside it and no sensitive one."""

    def read(path: str) -> Source | Skipped:
        try:
            inside = check_relative(path)
            if inside in own:
                return Skipped(path, SkipReason.GENERATED, "this is the pack itself")
            rule = is_sensitive(inside)
            if rule is not None:
                return Skipped(path, SkipReason.SENSITIVE, f"a sensitive file ({rule}) is not read")
            return engine.read(inside)
        # A UnicodeError means a lone surrogate, which no file name contains.
        except (PathNotAllowed, UnicodeError) as error:
            return Skipped(path, SkipReason.UNREADABLE, str(error))

    return read


def _index(engine: Engine) -> Snapshot | None:
    """Return the index in which moved text is found; the last complete one while another process writes."""
    try:
        engine.ensure_fresh()
    except IndexBusy:
        if not engine.store.exists():
            return None
    return engine.snapshot()


def _unreadable(reason: str) -> Callable[[str], Source | Skipped]:
    """Return a reader that reports every file as unreadable."""
    return lambda path: Skipped(path, SkipReason.UNREADABLE, reason)


COMMAND = Command(
    "verify", VerifyRequest, VerifyResponse, run, fresh=False, takes_session=True, group=Group.CHECK
)
