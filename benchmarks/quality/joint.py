"""How good are the answers when all repositories of a set are asked as one, and no question names its own?

    python benchmarks/quality/joint.py --queries dev.jsonl --set semble --copies COPIES --index INDEXES \\
        [--semble CACHE] --out benchmarks/quality/joint.txt

Every question is asked of a library of all its set's repositories, with the signals that tell repositories
apart and without them. Figures are over files: NDCG@10, a gold file in the first one and five, and whether
the first file, or one of the first five, is of the right repository.

The weights of these signals are also chosen anew by folds of repositories: a question is then ranked by
weights that no question of its repository had a say in. `--semble` asks semble's search over several
repositories as well, in an environment of its own below the folder CACHE (see benchmarks/peers.py): it is
given 30 chunks a question, of which the first ten files count.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1]))

from peers import install_semble
from questions import Group, Question, add_arguments, read_groups

from satchel.library.library_engine import LibraryEngine
from satchel.library.members import Member
from satchel.retrieval import candidates, ranker
from satchel.retrieval.filters import Filters
from satchel.retrieval.search import gather_evidence
from satchel.settings import QUALITY

DEPTH = 10
COLUMNS = ("ndcg@10", "gold@1", "gold@5", "repo@1", "repo@5")
FOLDS = (4, 8)
# What the weights of the signals of repositories are chosen from.
CHOICES = {
    "repository_named": (3.0,),
    "repository_language": (3.0,),
    "repository_words": (15.0, 20.0, 25.0, 30.0),
    "repository_explains": (0.0, 2.0, 4.0, 6.0),
}
ASK_SEMBLE = """
import json, sys
from semble import SembleIndex
asked = json.load(sys.stdin)
index = SembleIndex.merge([(root, SembleIndex.from_path(root)) for root in asked["roots"].values()])
names = {root: name for name, root in asked["roots"].items()}
for question in asked["questions"]:
    found = []
    for result in index.search(question, top_k=30):
        label, _, path = result.chunk.file_path.partition("/")
        found.append(f"{names[index.sources[label]]}/{path}")
    print(json.dumps(list(dict.fromkeys(found))))
"""

Figures = tuple[float, ...]


class Ranked(NamedTuple):
    """The candidates of a question: their paths, and their scores without the signals of repositories and by
    each of these signals."""

    question: Question
    paths: list[str]
    base: np.ndarray
    signals: dict[str, np.ndarray]

    def figures(self, weights: Mapping[str, float]) -> Figures:
        """Rank by some weights, and return the figures."""
        total = self.base + sum(weights[name] * self.signals[name] for name in weights)
        order = np.argsort(-np.round(total, 6), kind="stable")[:DEPTH]
        return figures(self.question, [self.paths[at] for at in order])


def library_of(groups: Sequence[Group], *, as_is: bool) -> LibraryEngine:
    """Return the engine that asks all repositories of the groups as one."""
    members = []
    for group in groups:
        (engine,) = group.engines([QUALITY], as_is=as_is)
        members.append(Member(_name(group.questions[0]), group.copy, engine))
    return LibraryEngine.of_members(groups[0].copy.parent, members)


def _name(question: Question) -> str:
    return question.repository.partition("/")[2]


def figures(question: Question, paths: Sequence[str]) -> Figures:
    """Return the figures of the files that answer a question, best first, in the order of `COLUMNS`."""
    name = _name(question)
    gold = {f"{name}/{one.path.removeprefix(question.prefix)}" for one in question.case.gold}
    gains = sum(1 / math.log2(place + 2) for place, path in enumerate(paths[:DEPTH]) if path in gold)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(gold))))
    own = [path.partition("/")[0] == name for path in paths]
    found = (gold.intersection(paths[:1]), gold.intersection(paths[:5]), own[:1] == [True], any(own[:5]))
    return (gains / ideal, *(float(bool(one)) for one in found))


def asked(engine: LibraryEngine, question: Question, weights: Mapping[str, float] | None) -> Figures:
    """Ask the library one question, and return its figures."""
    hits, _ = engine.search(question.case.query, DEPTH, weights=weights)
    return figures(question, list(dict.fromkeys(hit.path for hit in hits)))


def ranked(engine: LibraryEngine, question: Question) -> Ranked:
    """Return the candidates of a question."""
    corpus = engine.corpus()
    context = gather_evidence(corpus, question.case.query, Filters(), candidates.CANDIDATES)
    if context is None:
        raise SystemExit(f"no file answers {question.case.query!r}")
    found = ranker.signals(context)
    base = ranker.weights(QUALITY if context.query_terms.all_title else ranker.REPORTS)
    paths = [record.path for record in context.records]
    signals = {name: found[name] for name in CHOICES}
    return Ranked(question, paths, ranker.score(found, base, context.count), signals)


def by_folds(every: Sequence[Ranked], folds: int) -> list[Figures]:
    """Return the figures of each question, ranked by weights that were chosen on other repositories."""
    grid = [dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())]
    scored = np.array([[one.figures(weights) for one in every] for weights in grid])
    names = sorted({_name(one.question) for one in every})
    fold = np.array([names.index(_name(one.question)) % folds for one in every])
    result = np.zeros(scored.shape[1:])
    for number in range(folds):
        others = scored[:, fold != number].mean(axis=1)
        best = int(np.argmax(others[:, 0] + others[:, 3]))  # NDCG and the right repository count alike
        result[fold == number] = scored[best][fold == number]
    return [tuple(row) for row in result.tolist()]


def by_semble(groups: Sequence[Group], cache: Path) -> Iterator[Figures]:
    """Yield the figures of semble for each question, asked of all repositories as one."""
    semble = install_semble(cache)
    questions = [question for group in groups for question in group.questions]
    roots = {
        _name(group.questions[0]): str((group.copy / group.questions[0].case.search_root).resolve())
        for group in groups
    }
    done = subprocess.run(
        [semble.program.with_name("python"), "-c", ASK_SEMBLE],
        input=json.dumps({"roots": roots, "questions": [question.case.query for question in questions]}),
        env=semble.environment(cache / "joint"),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    for question, line in zip(questions, done.stdout.splitlines(), strict=True):
        yield figures(question, json.loads(line)[:DEPTH])


def table(questions: Sequence[Question], values: Sequence[Figures]) -> list[str]:
    """Return a line for each category, and one for all."""
    rows: dict[str, list[Figures]] = defaultdict(list)
    for question, one in zip(questions, values, strict=True):
        rows[question.case.category].append(one)
    lines = [f"{'':<14}{'n':>5}" + "".join(f"{name:>9}" for name in COLUMNS)]
    for category, those in (*sorted(rows.items()), ("all", values)):
        means = (sum(column) / len(those) for column in zip(*those, strict=True))
        lines.append(f"{category:<14}{len(those):>5}" + "".join(f"{mean:>9.4f}" for mean in means))
    return lines


def main() -> None:
    """Ask, score, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    parser.add_argument("--semble", type=Path, metavar="CACHE", help="ask semble too, installed below CACHE")
    parser.add_argument("--out", type=Path, help="where the text is kept (default: the terminal)")
    options = parser.parse_args()
    groups = read_groups(options)
    questions = [question for group in groups for question in group.questions]
    engine = library_of(groups, as_is=options.as_is)
    corpus = engine.corpus()
    told = {
        "with the signals of repositories": [asked(engine, question, None) for question in questions],
        "without them": [asked(engine, question, ranker.weights(QUALITY)) for question in questions],
    }
    every = [ranked(engine, question) for question in questions]
    for folds in FOLDS:
        told[f"with weights of these signals that were chosen on other repositories, {folds} folds"] = (
            by_folds(every, folds)
        )
    if options.semble:
        told["semble 0.7.0, its own merged index of the same folders"] = [*by_semble(groups, options.semble)]
    lines = [
        f"{len(groups)} repositories asked as one: {len(corpus.files)} files, {corpus.unit_count} units.",
        "The weights of the profile and those of the signals of repositories were chosen on these questions.",
    ]
    for title, values in told.items():
        lines += ["", title, *table(questions, values)]
    shown = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(shown, encoding="utf-8")
    else:
        print(shown, end="")


if __name__ == "__main__":
    main()
