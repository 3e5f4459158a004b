"""One library that is served: an engine for each set of repositories that callers may see.

This is the one place where the grant of a caller meets an engine. The engine is opened with the repositories
of the grant and no others, so nothing of another can enter an answer, an error or a count."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from satchel.caching import Cache
from satchel.engine import Engine
from satchel.library.catalogue import Repository
from satchel.library.grants import EVERYTHING, Caller, Grant
from satchel.library.library import Library
from satchel.library.library_engine import Asking
from satchel.plugins import late
from satchel.serving.served_project import ServedProject

if TYPE_CHECKING:
    from satchel.library import cluster as clusters
else:  # most libraries are asked without a cluster
    clusters = late("satchel.library.cluster")

# Each holds the arrays of its repositories in memory. Callers who see the same repositories share one.
_MOST_ENGINES = 8
_GRANTS_KEPT = 1024
_USUAL = Asking()

_Names = tuple[str, ...]


class ServedLibrary(ServedProject):
    """One library: its engines, and one caller at a time. `engine` is the one that sees everything."""

    is_library = True

    def __init__(self, library: Library, asking: Asking = _USUAL) -> None:
        super().__init__(library.folder)
        self._library = library
        self._cluster = clusters.Cluster(asking.cluster) if asking.cluster else None
        self._allow_partial = asking.allow_partial
        self._read_stamp: Hashable = None
        self._known: list[Repository] = []  # as the catalogue had them when it was read
        self._open: dict[_Names, Engine] = {}  # by what is seen; that which was used last is the last
        self._seen: Cache[Grant, _Names] = Cache(_GRANTS_KEPT)

    def _open_engine(self) -> Engine:
        self._read_stamp = self._file_stamp()  # before the list: what is written meanwhile is read again
        self._known = self._library.repositories()
        self._seen.clear()
        self.engine = self._engine_over(self._known)
        self._open = {self._names(EVERYTHING): self.engine}
        self._options = self.engine.options
        return self.engine

    def _engine_over(self, repositories: Sequence[Repository]) -> Engine:
        return self._library.engine_over(
            repositories, self._profile, self._cluster, allow_partial=self._allow_partial
        )

    def close(self) -> None:
        super().close()
        if self._cluster is not None:
            self._cluster.close()

    def _close_engines(self) -> None:
        for engine in self._engines():
            engine.close()
        self._open = {}

    def _engines(self) -> list[Engine]:
        return list(self._open.values())

    def _file_stamp(self) -> Hashable:
        return self._library.catalogue.stamp()

    def _reopen(self) -> None:
        """Open the engines anew if the catalogue has other repositories, or one whose state changed. A sync
        that went well writes another commit, and an engine sees that by itself; tokens change no answer."""
        stamp = self._file_stamp()
        if stamp == self._read_stamp:
            return
        known = _without_commits(self._library.repositories())  # raises while there is no catalogue
        if known != _without_commits(self._known):
            self._close_engines()
            self._open_engine()
        else:
            self._read_stamp = stamp

    def _names(self, grant: Grant) -> _Names:
        return self._seen.get_or_compute(
            grant, lambda: tuple(one.name for one in self._known if grant.allows(one.name, one.groups))
        )

    def _engine_for(self, caller: Caller) -> Engine:
        names = self._names(EVERYTHING if caller.grant is None else caller.grant)
        found = self._open.get(names)
        # One reading of the catalogue says both under which names an engine is kept and what it can see.
        return found or self._engine_over([one for one in self._known if one.name in names])

    def _keep(self, caller: Caller, taken: Engine) -> None:
        names = self._names(EVERYTHING if caller.grant is None else caller.grant)
        self._open.pop(names, None)
        self._open[names] = taken
        every = self._names(EVERYTHING)
        if names == every:
            self.engine = taken
        if len(self._open) > _MOST_ENGINES:
            oldest = next(one for one in self._open if one != every)
            self._open.pop(oldest).close()


def _without_commits(repositories: Sequence[Repository]) -> list[Repository]:
    return [replace(one, commits={}, problem="") for one in repositories]
