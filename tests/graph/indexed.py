"""Index a small project that is given as text, and read its edges as lines."""

from __future__ import annotations

import tempfile
from pathlib import Path

from builders import make_tree, memory_engine

from satchel.code_facts import used_name
from satchel.storage.protocol import Snapshot
from satchel.types import Label


def edges_of(files: dict[str, str], then: dict[str, str] | None = None) -> set[str]:
    """Return the resolved uses: `cart.go:12 Total → basket.go Basket.Total (self)`. With `then`, these files
    are written after the first index, and the edges are those of the refreshed one."""
    snapshot = _index(files, then)
    found = set()
    for record in snapshot.files():
        facts, (edges,) = snapshot.facts(record.path), snapshot.edges([record.path])
        for use_number, target_number, rule in edges.uses:
            use, target = facts.uses[use_number], edges.targets[target_number]
            if use.label is not Label.IMPORTS:
                used = f"{used_name(use.expression)} → {target.path} {target.name} ({rule})"
                found |= {f"{record.path}:{line} {used}" for line in use.lines}
    return found


def imports_of(files: dict[str, str]) -> set[str]:
    """Return which file loads which: `main.go → cart/cart.go`."""
    snapshot = _index(files)
    paths = [record.path for record in snapshot.files()]
    return {
        f"{path} → {edges.targets[number].path}"
        for path, edges in zip(paths, snapshot.edges(paths), strict=True)
        for _, number in edges.imports
    }


def _index(files: dict[str, str], then: dict[str, str] | None = None) -> Snapshot:
    with tempfile.TemporaryDirectory() as folder:
        engine = memory_engine(make_tree(Path(folder), files))
        if then:
            make_tree(Path(folder), then)
            engine.refresh()
        return engine.snapshot()
