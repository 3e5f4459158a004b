"""Python runs this at its start where this folder is on PYTHONPATH: the files here are then plug-ins of
`satchel.storage`, as if they lay in its folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType


class StorageWithPlugIns:
    """Finds `satchel.storage` where it is, with this folder as a further place of its modules."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == "satchel.storage" else None
        if spec is not None and spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(str(Path(__file__).parent))
        return spec


sys.meta_path.insert(0, StorageWithPlugIns)  # type: ignore[arg-type]
