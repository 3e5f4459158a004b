"""How true are the edges between files and between classes? Imports and bases against the oracle."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from graph.answers import Row, Satchel
from graph.truth import Base, Truth
from graph.use_scores import Score

ASKED_FILES = 300  # of a repository; larger ones are sampled

Edge = tuple[str, str]
"""The importing file and the imported one."""


class Findings(NamedTuple):
    """A score with a line for each thing that is wrong or missing, and what was not judged."""

    score: Score
    wrong: list[str]
    missed: list[str]
    not_judged: int = 0


def score_imports(satchel: Satchel, truth: Truth) -> Findings:
    """Ask `refs FILE` for the files that import a file, and compare with the true edges."""
    asked = sorted(truth.files)
    if len(asked) > ASKED_FILES:
        asked = sorted(random.Random(truth.repository).sample(asked, ASKED_FILES))
    files, pool = set(truth.files), set(asked)
    said: set[Edge] = set()
    for path in asked:
        rows = satchel.uses(path, ["imports"])
        said.update((row.path, path) for row in rows if row.sure and row.path in files - {path})
    demanded = {(edge.source, edge.target) for edge in truth.imports if not edge.implied}
    implied = {(edge.source, edge.target) for edge in truth.imports if edge.implied}
    true = {edge for edge in demanded if edge[1] in pool}
    wrong, missed = sorted(said - demanded - implied), sorted(true - said)
    score = Score(len(said & true), len(wrong), len(missed))
    return Findings(score, list(map(" → ".join, wrong)), list(map(" → ".join, missed)))


def score_bases(satchel: Satchel, truth: Truth) -> Findings:
    """Ask `refs BASE` for the classes that extend it, and compare each base with the class it means.

    A row on a line where the oracle knows of no base is not judged; a row without a target states nothing.
    """
    written = {(base.path, base.line, base.name): base for base in truth.bases}
    stated: set[tuple[str, int, str]] = set()
    right, wrong, not_judged = 0, [], 0
    for name, row in _extending(satchel, truth):
        key = row.path, row.line, name
        if key in stated or not row.target:
            continue
        base = written.get(key)
        if base is None:
            not_judged += 1
            continue
        stated.add(key)
        if _means(base, row.target):
            right += 1
        else:
            wrong.append(f"{row.path}:{row.line} {name} → {row.target} ({row.rule} {row.confidence})")
    inside = [key for key, base in written.items() if base.targets]
    missed = [f"{path}:{line} {name}" for path, line, name in inside if (path, line, name) not in stated]
    score = Score(right, len(wrong), len(inside) - right)
    return Findings(score, wrong, missed, not_judged)


def _extending(satchel: Satchel, truth: Truth) -> Iterator[tuple[str, Row]]:
    """Return the sure rows that say that a class extends a base, with the base's name."""
    for name in sorted({base.name for base in truth.bases}):
        for row in satchel.uses(name, ["extends"]):
            if row.label == "extends" and row.sure:
                yield name, row


def _means(base: Base, target: str) -> bool:
    """Return whether a target `path:start:end` is a class that the base means."""
    path, start, end = target.rsplit(":", 2)
    return any(place.path == path and int(start) <= place.line <= int(end) for place in base.targets)
