"""How good are the answers when all repositories of a set are asked as one, and no question names its own?

    python benchmarks/quality/joint.py --queries dev.jsonl --set semble --copies COPIES --index INDEXES \\
        --out benchmarks/quality/joint.txt

Every question is asked of a library of all its set's repositories, with the signals that tell repositories
apart and without them. Figures are over files: NDCG@10, a gold file in the first one and five, and whether
the first file, or one of the first five, is of the right repository.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from questions import Group, Question, add_arguments, read_groups

from satchel.library.library_engine import LibraryEngine
from satchel.library.members import Member
from satchel.retrieval import ranker
from satchel.settings import QUALITY

DEPTH = 10
COLUMNS = ("ndcg@10", "gold@1", "gold@5", "repo@1", "repo@5")


def library_of(groups: Sequence[Group], *, as_is: bool) -> LibraryEngine:
    """Return the engine that asks all repositories of the groups as one."""
    members = []
    for group in groups:
        (engine,) = group.engines([QUALITY], as_is=as_is)
        members.append(Member(_name(group.questions[0]), group.copy, engine))
    return LibraryEngine.of_members(groups[0].copy.parent, members)


def _name(question: Question) -> str:
    return question.repository.partition("/")[2]


def figures(
    engine: LibraryEngine, question: Question, weights: Mapping[str, float] | None
) -> tuple[float, ...]:
    """Ask one question and return its figures, in the order of `COLUMNS`."""
    name = _name(question)
    hits, _ = engine.search(question.case.query, DEPTH, weights=weights)
    paths = list(dict.fromkeys(hit.path for hit in hits))
    gold = {f"{name}/{one.path.removeprefix(question.prefix)}" for one in question.case.gold}
    gains = sum(1 / math.log2(place + 2) for place, path in enumerate(paths) if path in gold)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(gold))))
    own = [path.partition("/")[0] == name for path in paths]
    found = (gold.intersection(paths[:1]), gold.intersection(paths[:5]), own[:1] == [True], any(own[:5]))
    return (gains / ideal, *(float(bool(one)) for one in found))


def table(rows: Mapping[str, Sequence[tuple[float, ...]]]) -> list[str]:
    """Return a line for each category, and one for all."""
    lines = [f"{'':<14}{'n':>5}" + "".join(f"{name:>9}" for name in COLUMNS)]
    for category, values in rows.items():
        means = (sum(column) / len(values) for column in zip(*values, strict=True))
        lines.append(f"{category:<14}{len(values):>5}" + "".join(f"{mean:>9.4f}" for mean in means))
    return lines


def main() -> None:
    """Ask, score, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    parser.add_argument("--out", type=Path, help="where the text is kept (default: the terminal)")
    options = parser.parse_args()
    groups = read_groups(options)
    engine = library_of(groups, as_is=options.as_is)
    corpus = engine.corpus()
    lines = [
        f"{len(groups)} repositories asked as one: {len(corpus.files)} files, {corpus.unit_count} units.",
        "The weights of the profile and those of the signals of repositories were chosen on these questions.",
    ]
    told = {"with the signals of repositories": None, "without them": ranker.weights(QUALITY)}
    for title, weights in told.items():
        rows: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        for question in (question for group in groups for question in group.questions):
            values = figures(engine, question, weights)
            rows[question.case.category].append(values)
            rows["all"].append(values)
        ordered = {name: rows[name] for name in (*sorted(set(rows) - {"all"}), "all")}
        lines += ["", title, *table(ordered)]
    shown = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(shown, encoding="utf-8")
    else:
        print(shown, end="")


if __name__ == "__main__":
    main()
