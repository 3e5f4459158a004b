"""Where are a dataset's paths in this segment? Datasets name paths from the top of a repository; the segment
may be that top, or the folder that the questions are about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from satchel.errors import PathNotAllowed
from satchel.evaluation.cases import Case, Gold
from satchel.walking.paths import check_relative, os_path


class Place(NamedTuple):
    """How the segment's paths become the dataset's: `prefix` is put before them, and only those below
    `within` are searched."""

    prefix: str = ""
    within: str = ""


def places(root: Path, cases: Sequence[Case]) -> dict[str, Place]:
    """For each search root of the cases, the reading under which more of their gold is there."""
    found = {}
    for search_root in sorted({case.search_root for case in cases}):
        paths = {gold.path for case in cases if case.search_root == search_root for gold in case.gold}
        at_top = Place(within=search_root)
        inside = Place(prefix=f"{search_root}/") if search_root else at_top
        found[search_root] = max((at_top, inside), key=lambda place: _count_here(root, place, paths))
    return found


def is_here(root: Path, place: Place, path: str) -> bool:
    """Whether the segment has the file, indexed or not."""
    try:
        relative = check_relative(path.removeprefix(place.prefix))
    except PathNotAllowed:
        return False
    return path.startswith(place.prefix) and os.path.isfile(os_path(root, relative))


def is_indexed(indexed: Set[str], place: Place, gold: Gold) -> bool:
    """Whether a search can find it."""
    if gold.path.startswith(place.prefix) and gold.path.removeprefix(place.prefix) in indexed:
        return True
    return gold.is_loose and any(gold.is_at(place.prefix + path) for path in indexed)


def _count_here(root: Path, place: Place, paths: Iterable[str]) -> int:
    return sum(is_here(root, place, path) for path in paths)
