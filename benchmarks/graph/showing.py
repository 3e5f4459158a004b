"""Which uses are wrong, and which are missed? Lists to work from, with the source line of each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from graph.measuring import Measured
from graph.repositories import Lab
from graph.use_scores import CHOICES, Case, Line

_CHOICE = ">= .8"  # the answer whose faults are shown
_SHOWN_CHARS = 110


def show(lab: Lab, measured: Sequence[Measured], count: int, group: str | None) -> str:
    """Return up to `count` faults of each kind for each repository, chosen by a fixed seed."""
    lines: list[str] = []
    for each in measured:
        clone = lab.clone(each.repository)
        cases = [case for case in each.cases if group in (None, case.definition.group)]
        lines += _section(f"{each.repository.name}: wrong uses at {_CHOICE}", _wrong(cases, clone), count)
        lines += _section(f"{each.repository.name}: missed uses at {_CHOICE}", _missed(cases, clone), count)
        for title, findings in (("imports", each.imports), ("bases", each.bases)):
            if findings is not None:
                lines += _section(f"{each.repository.name}: wrong {title}", findings.wrong, count)
                lines += _section(f"{each.repository.name}: missed {title}", findings.missed, count)
        if each.related is not None:
            lines += _section(f"{each.repository.name}: related without an edge", each.related.wrong, count)
    return "\n".join(lines) + "\n"


def _section(title: str, faults: Iterator[str] | Sequence[str], count: int) -> list[str]:
    """Return a titled list of some faults; nothing if there are none."""
    found = sorted(faults)
    if not found:
        return []
    chosen = sorted(random.Random(title).sample(found, min(count, len(found))))
    return ["", f"{title}, {len(chosen)} of {len(found)}", *(f"  {fault}" for fault in chosen)]


def _wrong(cases: Sequence[Case], clone: Path) -> Iterator[str]:
    for case in cases:
        rows = {(row.path, row.line): row for row in CHOICES[_CHOICE](case)}
        for line in case.lines(rows.values()) - case.true:
            row = rows[line]
            doubt = ", the oracle knows no type here" if line in case.undecided else ""
            how = f"{row.rule} {row.confidence:.2f} {row.label} → {row.target}{doubt}"
            yield f"{_about(case)}  {_source(clone, line)}  [{how}]"


def _missed(cases: Sequence[Case], clone: Path) -> Iterator[str]:
    for case in cases:
        said = {(row.path, row.line): row for row in (*case.qualified, *case.bare)}
        for line in case.true - case.lines(CHOICES[_CHOICE](case)):
            row = said.get(line)
            how = f"{row.rule} {row.confidence:.2f} → {row.target or 'nothing'}" if row else "never stated"
            yield f"{_about(case)}  {_source(clone, line)}  [{how}]"


def _about(case: Case) -> str:
    definition = case.definition
    place = definition.names[0]
    return f"{definition.qualified_name} ({definition.group}, {place.path}:{place.line})"


def _source(clone: Path, line: Line) -> str:
    path, number = line
    return f"{path}:{number}: {_lines(clone / path)[number - 1].strip()[:_SHOWN_CHARS]}"


@lru_cache(maxsize=64)
def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").split("\n")
