"""How true are the uses that `refs` states? Precision, recall and calibration against the oracle, by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graph.answers import Row, Satchel
from graph.truth import Definition, Place, Truth

SURE_FROM = 0.8  # the confidence that the promises are made for
CALIBRATED_FROM = 100  # uses; a smaller bucket says little
CALIBRATED_WITHIN = 0.05
_DIRECT = ", direct"  # ends the name of a row that leaves uses through other methods aside

Judge = Callable[[str, int], bool]
"""Whether the oracle read a line."""

Line = tuple[str, int]
"""A path and a line: what both sides can state of a use."""


class Score(NamedTuple):
    """How many stated things are true, how many are not, and how many true ones were not stated."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @classmethod
    def of(cls, said: set[Line], true: set[Line]) -> Score:
        """Compare two sets."""
        return cls(len(said & true), len(said - true), len(true - said))

    def plus(self, other: Score) -> Score:
        """Return both scores as one."""
        return Score(self.right + other.right, self.wrong + other.wrong, self.missed + other.missed)

    def __str__(self) -> str:
        return f"{_share(self.right, self.wrong)} {_share(self.right, self.missed)}"


@dataclass(frozen=True, slots=True)
class Case:
    """One sampled definition: what is true, what `refs Qualified.name` and `refs name` say."""

    repository: str
    language: str
    definition: Definition
    true: set[Line]
    direct: set[Line]  # without uses through a method that the definition overrides or implements
    qualified: list[Row]
    bare: list[Row]
    targets: frozenset[str]  # how `refs` writes this definition
    undecided: frozenset[Line]  # lines with a name that the oracle cannot resolve

    def lines(self, rows: Iterable[Row]) -> set[Line]:
        """Return the lines of rows, without the line of the definition itself."""
        own = {(place.path, place.line) for place in self.definition.names}
        return {(row.path, row.line) for row in rows} - own


Choice = Callable[[Case], Iterator[Row]]

CHOICES: Mapping[str, Choice] = {
    ">= .8": lambda case: (row for row in case.qualified if row.confidence >= SURE_FROM),
    ">= .8 of it": lambda case: (
        row for row in case.qualified if row.confidence >= SURE_FROM and row.target in case.targets
    ),
    "name >= .8": lambda case: (
        row for row in case.bare if row.confidence >= SURE_FROM and row.target in case.targets
    ),
    "printed": lambda case: (row for row in case.qualified if row.sure),
    "possible too": lambda case: iter(case.qualified),
}
"""The answers that are scored. `of it`: rows whose target is the definition; a qualified name that several
files define has rows for each of them."""


def cases_of(satchel: Satchel, truth: Truth, sample: str) -> Iterator[Case]:
    """Ask about every definition of a sample."""
    ranges = satchel.symbol_ranges()
    judge = truth.judges()
    undecided = frozenset((place.path, place.line) for place in truth.undecided)
    # A struct and its typedef are one definition in C; a type and a value of one name are two in TypeScript.
    values_apart = truth.language == "typescript"
    for definition in truth.definitions:
        if definition.sample != sample:
            continue
        qualified = _judged(satchel.uses(definition.qualified_name), judge)
        is_bare = definition.name == definition.qualified_name
        own = ranges.get((definition.path, definition.qualified_name), definition.ranges)
        yield Case(
            repository=truth.repository,
            language=truth.language,
            definition=definition,
            true=_true_lines(definition, definition.uses, judge),
            direct=_true_lines(definition, definition.direct, judge),
            qualified=qualified,
            bare=qualified if is_bare else _judged(satchel.uses(definition.name), judge),
            targets=frozenset(
                f"{definition.path}:{start}:{end}"
                for start, end in own
                if not values_apart or definition.meets(start, end)
            ),
            undecided=undecided,
        )


def _judged(rows: Iterable[Row], judge: Judge) -> list[Row]:
    """Return the rows that the oracle can judge: uses in code, on lines that it read."""
    return [row for row in rows if row.label != "links_to" and judge(row.path, row.line)]


def _true_lines(definition: Definition, uses: Iterable[Place] | None, judge: Judge) -> set[Line]:
    """Return the lines with a use, without that of the definition itself."""
    own = {(place.path, place.line) for place in definition.names}
    return {(use.path, use.line) for use in uses or () if judge(use.path, use.line)} - own


def scores(cases: Iterable[Case], *, only_direct: bool = False) -> dict[str, Score]:
    """Return the sum of the scores of each choice. With `only_direct`, uses that are not direct are neither
    demanded nor wrong."""
    found = dict.fromkeys(CHOICES, Score())
    for case in cases:
        neutral = case.true - case.direct if only_direct else set()
        for name, choose in CHOICES.items():
            score = Score.of(case.lines(choose(case)) - neutral, case.true - neutral)
            found[name] = found[name].plus(score)
    return found


def use_table(cases: Sequence[Case]) -> list[str]:
    """Return the scores by language, by language and group, and by repository, as lines of a table."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.language].append(case)
        groups[f"{case.language} {case.definition.group}"].append(case)
        if case.definition.direct is not None:
            groups[f"{case.language} {case.definition.group}{_DIRECT}"].append(case)
        groups[f"  {case.repository}"].append(case)
    head = "".join(f"{name:>14}" for name in CHOICES)
    lines = [f"{'':28}{'defs':>5}{'uses':>7}{head}{'undecided':>11}"]
    for name, members in sorted(groups.items(), key=lambda item: (item[0].startswith(" "), item[0])):
        only_direct = name.endswith(_DIRECT)
        uses = sum(len(case.true & case.direct if only_direct else case.true) for case in members)
        found = scores(members, only_direct=only_direct)
        columns = "".join(f"{found[key]!s:>14}" for key in CHOICES)
        lines.append(f"{name:28}{len(members):5}{uses:7}{columns}{_count_undecided(members):11}")
    return lines


def _count_undecided(cases: Iterable[Case]) -> int:
    """Return how many lines of the first choice count as wrong only because the oracle knows no type."""
    choose = next(iter(CHOICES.values()))
    return sum(len((case.lines(choose(case)) - case.true) & case.undecided) for case in cases)


def calibration_table(cases: Iterable[Case]) -> list[str]:
    """Return the share of true uses for each language, rule and stated confidence, as lines of a table.

    Only rows whose target is the sampled definition are counted: the others are about its namesakes.
    """
    buckets: dict[tuple[str, str, float], list[bool]] = defaultdict(list)
    for case in cases:
        own = {(place.path, place.line) for place in case.definition.names}
        for row in case.qualified:
            line = (row.path, row.line)
            if row.target in case.targets and line not in own:
                buckets[case.language, row.rule, row.confidence].append(line in case.true)
    lines = [f"{'language':12}{'rule':26}{'stated':>7}{'uses':>7}{'true':>7}"]
    for (language, rule, stated), found in sorted(buckets.items(), key=lambda item: _order(item[0])):
        true = sum(found) / len(found)
        is_off = len(found) >= CALIBRATED_FROM and abs(true - stated) > CALIBRATED_WITHIN
        mark = "  off" if is_off else ""
        lines.append(f"{language:12}{rule:26}{stated:7.2f}{len(found):7}{true:7.2f}{mark}")
    return lines


def _order(bucket: tuple[str, str, float]) -> tuple[str, float, str]:
    language, rule, stated = bucket
    return language, -stated, rule


def _share(part: int, rest: int) -> str:
    """Return a share as `.97`, `1.00`, or `-` where there is nothing to divide."""
    return f"{part / (part + rest):.2f}".removeprefix("0") if part + rest else "-"
