"""How do the figures look as text? One table for each question, in an order that does not change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graph.edge_scores import Findings
from graph.measuring import Measured
from graph.use_scores import calibration_table, use_table

_INTRODUCTION = """\
How true is the code graph? Measured against pyright, TypeScript's language service, go/types and clangd.
Two figures in a column are precision and recall: the share of what is stated that is true, and the share of
what is true that is stated; uses are compared by line.
  >= .8         rows of `refs Qualified.name` with a confidence of at least 0.8
  >= .8 of it   those of them whose target is the sampled definition
  name >= .8    the same for `refs name`
  printed       all rows of `refs Qualified.name`
  possible too  with the possible uses, where `refs` tells them apart
  undecided     lines of the first column that count as wrong where the oracle knows no type and cannot say
Rows called direct leave uses aside that reach a method through one that it overrides or implements.
"""
_EDGE_HEAD = f"{'':16}{'true':>7}{'said':>7}{'right':>7}{'P   R':>12}{'not judged':>12}"


def report(measured: Sequence[Measured], sample: str) -> str:
    """Return all figures as text that can be compared by lines."""
    cases = [case for each in measured for case in each.cases]
    lines = [_INTRODUCTION, f"Sample: {sample}", *map(_repository, measured), ""]
    lines += ["Uses of sampled definitions", *use_table(cases), ""]
    lines += ["Stated confidence and truth", *calibration_table(cases), ""]
    for title, rows in (
        ("Import edges", list(_edges(measured, "imports"))),
        ("Bases of classes", list(_edges(measured, "bases"))),
    ):
        lines += [title, _EDGE_HEAD, *rows, ""] if rows else []
    if related := list(_related(measured)):
        lines += ["Related items at distance 1 that have a true edge", *related, ""]
    if maps := list(_maps(measured)):
        lines += ["The first 30 of the map, beside the 30 that most files refer to", *maps]
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _repository(each: Measured) -> str:
    left_out = f", {each.not_indexed} files that Satchel leaves out" if each.not_indexed else ""
    return f"{each.repository.name} at {each.commit[:12]}{left_out}"


def _edges(measured: Sequence[Measured], kind: str) -> Iterator[str]:
    for each in measured:
        findings: Findings | None = getattr(each, kind)
        if findings is None:
            continue
        score = findings.score
        counts = f"{score.right + score.missed:7}{score.right + score.wrong:7}{score.right:7}"
        yield f"{each.repository.name:16}{counts}{score!s:>12}{findings.not_judged:12}"


def _related(measured: Sequence[Measured]) -> Iterator[str]:
    for each in measured:
        if each.related is None:
            continue
        true, false = each.related.true, each.related.false
        labels = sorted({*true, *false})
        counts = [f"{label} {true[label]} of {true[label] + false[label]}" for label in labels]
        total = true.total() + false.total()
        share = f"{true.total() / total:.2f}" if total else "-"
        counts.append(f"{each.related.not_judged.total()} not judged")
        yield f"{each.repository.name:16}{share:>6}  {', '.join(counts)}"


def _maps(measured: Sequence[Measured]) -> Iterator[str]:
    for each in measured:
        found = each.map
        if found is None:
            continue
        yield f"{each.repository.name:16}{found.overlap:3} shared, {len(found.unused)} that nothing refers to"
        for title, symbols in (
            ("shown", found.shown),
            ("most referred to", found.best),
            ("nothing refers to", found.unused),
        ):
            if symbols:
                yield f"  {title}: {', '.join(name for _, name in symbols)}"
