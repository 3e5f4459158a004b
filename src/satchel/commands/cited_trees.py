"""The files that citations are checked against: those of the work tree, or of the commit that each names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.errors import IndexBusy, PathNotAllowed, RefNotFound
from satchel.packing.pack import WORK_TREE
from satchel.storage.protocol import Snapshot
from satchel.types import Skipped, SkipReason, Source
from satchel.verifying.relocation import CitedTree
from satchel.walking.paths import check_relative
from satchel.walking.sensitive_names import is_sensitive

if TYPE_CHECKING:
    from satchel.engine import Engine

_STAGED = "staged"


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
