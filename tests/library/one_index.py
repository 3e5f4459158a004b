"""One real index of several repositories: what a library must answer like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from builders import memory_engine
from msgspec.structs import replace

from satchel.code_facts import Target
from satchel.library.library_engine import LibraryEngine
from satchel.library.members import JointStore, Member
from satchel.storage import postings, records
from satchel.storage.history import join_histories, pack, unpack_history
from satchel.storage.memory import MemorySnapshot, MemoryStore
from satchel.storage.records import REPOSITORIES, PostingRun


def one_index(snapshots: Mapping[str, MemorySnapshot]) -> MemoryStore:
    """Write the files of all repositories into one store, as `NAME/path`, with one posting run over all of
    them."""
    store = MemoryStore()
    with store.write() as writer:
        tables = writer.snapshot.tables
        moved: list[tuple[PostingRun, list[tuple[str, bytes]]]] = []
        for name, snapshot in snapshots.items():
            own = snapshot.tables
            first_units = {0: 0}
            inside = [f"{name}/{path}" for path in own.files]
            for path, (record, packed) in own.files.items():
                target = f"{name}/{path}"
                first_units[record.first_unit] = writer.put_file(replace(record, path=target), packed)
                edges = records.unpack_edges(own.edges[path][0])
                targets = tuple(Target(f"{name}/{one.path}", one.name, one.is_value) for one in edges.targets)
                # A file may be named that consulted nothing: here each has consulted its whole repository.
                writer.put_edges(target, replace(edges, targets=targets), inside)
            for run, rows in own.runs.values():
                moved.append((_moved(run, first_units), sorted(rows.items())))
            writer.put_skipped(
                [
                    replace(one, skipped=replace(one.skipped, path=f"{name}/{path}"))
                    for path, one in own.skipped.items()
                ]
            )
        merged = postings.merge(1, moved, MemorySnapshot(tables).living)
        writer.put_run(merged.run, merged.rows)
        histories = [(f"{name}/", unpack_history(one.history())) for name, one in sorted(snapshots.items())]
        writer.put_history(pack(join_histories(histories)))
        signature = next(iter(snapshots.values())).meta()["signature"]
        writer.set_meta(
            {"signature": signature, REPOSITORIES: "\n".join(sorted(snapshots, key=lambda n: f"{n}/"))}
        )
    return store


def _moved(run: PostingRun, first_units: Mapping[int, int]) -> PostingRun:
    files = np.frombuffer(run.files, "<u4").reshape(-1, 2).copy()
    files[:, 0] = [first_units.get(first, 0) for first in files[:, 0].tolist()]
    return replace(run, files=files.tobytes())


class _OneStore(JointStore):
    """The repositories of a library, answered from one index of all of them."""

    def __init__(self, members: list[Member], store: MemoryStore) -> None:
        super().__init__("one index", members)
        self._store = store

    def joined(self) -> MemorySnapshot:  # type: ignore[override]
        return self._store.snapshot()


def both_ways(roots: Mapping[str, Path]) -> tuple[LibraryEngine, LibraryEngine]:
    """Return an engine over the indexes of some folders, and one over one index of all of them."""
    engines = {name: memory_engine(root) for name, root in roots.items()}
    members = [Member(name, roots[name], engine) for name, engine in engines.items()]
    library = LibraryEngine.of_members(next(iter(roots.values())), members)
    store = one_index({name: engine.snapshot() for name, engine in reversed(engines.items())})  # type: ignore[misc]
    return library, LibraryEngine(library.root, _OneStore(members, store), library.options)
