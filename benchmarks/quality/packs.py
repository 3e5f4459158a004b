"""How much of the answer is in a pack of so many tokens?

    python benchmarks/quality/packs.py --queries dev.jsonl --copies COPIES --index INDEXES \\
        --folds folds.json --out benchmarks/quality/packs.txt

Asks for the sectioned pack of every question in the agents' format, at each budget, counted by o200k over the
whole rendered text. With folds (of `fit.py`) no repository is ranked by weights that saw it.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from questions import Group, Question, add_arguments, each, read_groups
from report import mean
from run import Folds, read_folds

from satchel import tokenizers
from satchel.engine import Engine
from satchel.evaluation.cases import Case, Gold
from satchel.packing.pack import Pack
from satchel.rendering.packs import PACK_FORMATS
from satchel.settings import QUALITY

BUDGETS = (2_000, 4_000, 8_000)
TOKENIZER = "o200k"
FORMAT = "context"


class Scored(NamedTuple):
    """One question at one budget. `lines` is None where the answer has no lines."""

    case: Case
    budget: int
    files: float
    lines: float | None
    precision: float
    tokens: int
    milliseconds: float


def ask(group: Group, *, as_is: bool, folds: Folds) -> list[Scored]:
    """Every question of a group at every budget."""
    (engine,) = group.engines([QUALITY], as_is=as_is)
    with engine:
        return [
            pack_of(engine, question, budget, folds) for question in group.questions for budget in BUDGETS
        ]


def pack_of(engine: Engine, question: Question, budget: int, folds: Folds) -> Scored:
    """One pack, made as the command makes it."""
    weights: Mapping[str, float] | None = folds[question.repository] if folds else None
    start = time.process_time()
    render = PACK_FORMATS.get(FORMAT).render
    pack = engine.pack(
        question.case.query, render=render, budget_tokens=budget, tokenizer=TOKENIZER, weights=weights
    )
    spent = time.process_time() - start
    text = render(pack)
    tokens = tokenizers.get(TOKENIZER).count(text)
    assert tokens <= budget and tokens == pack.budget.used_tokens, (tokens, pack.budget)
    return score(question, pack, budget, tokens, spent * 1000)


def score(question: Question, pack: Pack, budget: int, tokens: int, milliseconds: float) -> Scored:
    """What of the answer's files and lines is shown, and how much of what is shown is of these files."""
    shown: dict[str, set[int]] = defaultdict(set)
    count = tokenizers.get(TOKENIZER).count
    cost: dict[str, int] = defaultdict(int)
    for item in pack.items:
        path = question.prefix + item.path
        shown[path].update(range(item.start_line, item.end_line + 1))
        cost[path] += count(item.content)
    gold = question.case.gold
    files = {target.name: [path for path in shown if target.is_at(path)] for target in gold}
    wanted = {(target.name, line) for target in gold for line in _lines(target)}
    held = {(name, line) for name, paths in files.items() for path in paths for line in shown[path]}
    useful = {path for paths in files.values() for path in paths}
    return Scored(
        case=question.case,
        budget=budget,
        files=sum(map(bool, files.values())) / len(files),
        lines=len(wanted & held) / len(wanted) if wanted else None,
        precision=sum(cost[path] for path in useful) / max(1, sum(cost.values())),
        tokens=tokens,
        milliseconds=milliseconds,
    )


def _lines(target: Gold) -> range:
    return range(target.start_line, target.end_line + 1) if target.start_line else range(0)


def text(rows: Sequence[Scored], head: str) -> str:
    """The figures as they are kept: per set, and for short questions per category."""
    parts = [head, LEGEND]
    for name in sorted({row.case.set for row in rows}):
        own = [row for row in rows if row.case.set == name]
        parts.append(_table(name, own))
        for category in sorted({row.case.category for row in own if row.case.category}):
            parts.append(_table(f"  {category}", [row for row in own if row.case.category == category]))
    return "\n".join(parts) + "\n"


LEGEND = """\
files      share of the answer's files with a line in the pack, at 2,000 / 4,000 / 8,000 tokens
lines      share of the answer's lines in the pack, where the answer has lines
precision  share of the tokens of all contents that are in files of the answer
tokens     mean size of the whole rendered pack
"""


def _table(name: str, rows: Sequence[Scored]) -> str:
    by_budget = [[row for row in rows if row.budget == budget] for budget in BUDGETS]
    files = "/".join(f"{mean([row.files for row in own]):.3f}" for own in by_budget)
    known = [[row.lines for row in own if row.lines is not None] for own in by_budget]
    lines = "/".join(f"{mean(own):.3f}" if own else "–" for own in known)
    precision = "/".join(f"{mean([row.precision for row in own]):.3f}" for own in by_budget)
    tokens = "/".join(f"{mean([row.tokens for row in own]):.0f}" for own in by_budget)
    count = len(by_budget[0])
    return f"{name:<16} n {count:>3}  files {files}  lines {lines}  precision {precision}  tokens {tokens}"


def main() -> None:
    """Ask, score, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    parser.add_argument("--folds", type=Path, help="weights by repository")
    parser.add_argument("--out", type=Path, help="where the text is kept (default: the terminal)")
    options = parser.parse_args()
    folds = read_folds(options.folds)
    rows = list(
        each(functools.partial(ask, as_is=options.as_is, folds=folds), read_groups(options), options.jobs)
    )
    ranked = "weights fitted without the repository asked" if folds else "the weights that ship"
    past = "with git history" if options.mirror else "without git history"
    shown = text(
        rows, f"Packs in the format `{FORMAT}`, tokens by {TOKENIZER}; ranked by {ranked}, {past}.\n"
    )
    if options.out:
        options.out.write_text(shown, encoding="utf-8")
    print(shown, end="")
    spent = sorted(row.milliseconds for row in rows if row.budget == BUDGETS[-1])
    print(
        f"8k packs: p50 {spent[len(spent) // 2]:.0f} ms, p95 {spent[int(len(spent) * 0.95)]:.0f} ms of CPU",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
