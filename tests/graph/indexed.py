"""Index a small project that is given as text, and read its edges as lines."""

from __future__ import annotations

import tempfile
from pathlib import Path

from builders import make_tree, memory_engine

from satchel.code_facts import used_name
from satchel.storage.protocol import Snapshot
from satchel.types import Label


def edges_of(files: dict[str, str]) -> set[str]:
    """Return the resolved uses: `cart.go:12 Total → basket.go Basket.Total (self)`."""
    snapshot = _index(files)
    found = set()
    for path in sorted(files):
        if snapshot.file(path) is None:
            continue
        facts, (edges,) = snapshot.facts(path), snapshot.edges([path])
        for use_number, target_number, rule in edges.uses:
            use, target = facts.uses[use_number], edges.targets[target_number]
            if use.label is not Label.IMPORTS:
                name = used_name(use.expression)
                found |= {
                    f"{path}:{line} {name} → {target.path} {target.name} ({rule})" for line in use.lines
                }
    return found


def imports_of(files: dict[str, str]) -> set[str]:
    """Return which file loads which: `main.go → cart/cart.go`."""
    snapshot = _index(files)
    found = set()
    for path in sorted(files):
        (edges,) = snapshot.edges([path]) if snapshot.file(path) is not None else ((),)
        for _, number in edges.imports if edges else ():
            found.add(f"{path} → {edges.targets[number].path}")
    return found


def _index(files: dict[str, str]) -> Snapshot:
    with tempfile.TemporaryDirectory() as folder:
        engine = memory_engine(make_tree(Path(folder), files))
        return engine.snapshot()
