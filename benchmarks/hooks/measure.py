"""Does the hook speak on questions about the code, is it right, and is it silent otherwise?

    python benchmarks/hooks/measure.py --queries dev.jsonl --copies COPIES --index INDEXES --out ROWS.json
    python benchmarks/hooks/measure.py --rows ROWS.json [--fit] [--text benchmarks/results/hooks.txt]

The first call asks every short question of the dataset of its whole working copy, plain and as people wrap it
in a sentence, and every prompt of `prompts.txt`, which are not about the code, of every folder that has an
index; `--issues CLONES` asks issue reports at their commits. The second call tells what came of it.
Repositories and prompts are halved by their order: `--fit` chooses the weights of
`retrieval/weights/sureness.json` on the first half of both. `unseen.txt` was written after they were chosen.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from satchel import tokenizers
from satchel.engine import Engine
from satchel.rendering.packs import PACK_FORMATS
from satchel.retrieval.sureness import Sureness

HERE = Path(__file__).parent
WEIGHTS = HERE.parent.parent / "src/satchel/retrieval/weights/sureness.json"
FIELDS = Sureness.__struct_fields__
BUDGET = 2_000
# How people say it to an agent; `plain` is the question as the dataset has it.
WRAPPED = (
    "{}",
    "can you tell me about {}?",
    "I want to change {}, where do I start?",
    "please look at {} and explain how it works",
)
LEAST_SILENCE = 0.98  # on the first half, so that .95 holds on the other one
ROUNDS, STEP, SHRINK = 4_000, 3.0, 1e-4


def asked(engine: Engine, prompt: str, gold: Sequence[str] | None, prefix: str = "") -> dict[str, Any]:
    """What the hook does on a prompt; with `gold`, whether one of these files is in the pack."""
    render = PACK_FORMATS.get("context").render
    found = engine.recall(prompt, BUDGET, tokenizers.get("o200k"), render)
    row: dict[str, Any] = {name: getattr(found.sureness, name) for name in FIELDS}
    if gold is not None:
        pack = found.pack or engine.pack(prompt, render=render, budget_tokens=BUDGET)
        paths = [prefix + item.path for item in pack.items]
        row["right"] = any(path.endswith(name) for path in paths for name in gold)
    return row


def prompts(name: str) -> list[str]:
    """The prompts of a file, without comments."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def ask_questions(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every short question and every other prompt, of every repository that has an index."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in options.queries.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        if question["set"] == "semble":
            groups[f"{question['source'].replace('/', '__')}@{question['commit'][:12]}"].append(question)
    for name in sorted(path.name for path in options.index.iterdir()):
        source = name.partition("@")[0]
        with Engine.open(options.copies / name, index_dir=options.index / name) as engine:
            for number, question in enumerate(groups[name]):
                gold = [target.get("match") or target["path"] for target in question["gold"]]
                for form in ("{}", WRAPPED[1 + number % (len(WRAPPED) - 1)]):
                    kind = "question" if form == "{}" else "wrapped"
                    row = asked(engine, form.format(question["query"]), gold)
                    yield {"kind": kind, "source": source, "prompt": question["query"], **row}
            for kind in ("prompts", "unseen"):
                for prompt in prompts(f"{kind}.txt"):
                    yield {"kind": kind, "source": source, "prompt": prompt, **asked(engine, prompt, None)}
        print(source, flush=True)


def ask_issues(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """At most four issues of each repository, at their commits."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in options.queries.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        groups[question["source"]].append(question)
    for source, questions in sorted(groups.items()):
        name = source.replace("/", "__")
        clone = options.issues / name.lower()
        if not (options.index / name).is_dir() or not clone.is_dir():
            continue
        with Engine.open(clone, index_dir=options.index / name, workers=1) as engine:
            for question in questions[:: max(1, len(questions) // 4)][:4]:
                with engine.at(question["commit"]) as past:
                    row = asked(past, question["query"], [target["path"] for target in question["gold"]])
                yield {"kind": "issue", "source": source, "prompt": question["query_id"], **row}
        print(source, flush=True)


def halves(rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of the first and of the second half of repositories; of prompts, too. Nothing is fitted to
    issues, whose repositories are others."""
    sources = sorted({row["source"] for row in rows if row["kind"] != "issue"})
    others = sorted({row["source"] for row in rows if row["kind"] == "issue"})
    texts = prompts("prompts.txt")
    first = {*sources[::2], *others[::2]}, {*texts[::2]}
    parts: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for row in rows:
        half = row["source"] not in first[0]
        if row["kind"] == "prompts" and (row["prompt"] not in first[1]) != half:
            continue
        parts[half].append(row)
    return parts


def table(rows: Sequence[dict[str, Any]]) -> np.ndarray[Any, Any]:
    """The numbers of each row."""
    return np.array([[row[name] for name in FIELDS] for row in rows])


def fitted(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Weights by logistic regression, and the sum at which enough of the prompts pass in silence."""
    chosen = [row for row in rows if row["kind"] in ("question", "wrapped", "prompts")]
    values, about = table(chosen), np.array([row["kind"] != "prompts" for row in chosen])
    mean, spread = values.mean(0), values.std(0) + 1e-9
    scaled = np.c_[(values - mean) / spread, np.ones(len(values))]
    worth = np.where(about, 1 / about.sum(), 1 / (~about).sum())
    weights = np.zeros(scaled.shape[1])
    for _ in range(ROUNDS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        weights -= STEP * (scaled.T @ ((likely - about) * worth) + SHRINK * weights)
    raw = np.round(weights[:-1] / spread, 3)
    sums = np.sort((values @ raw)[~about])
    enough = math.ceil(sums[math.ceil(LEAST_SILENCE * len(sums)) - 1] * 1000 + 1) / 1000
    return {**dict(zip(FIELDS, raw.tolist(), strict=True)), "enough": enough}


def spoken(rows: Sequence[dict[str, Any]], weights: dict[str, float]) -> list[bool]:
    """Whether the hook speaks, for each row."""
    return [sum(weights[name] * row[name] for name in FIELDS) >= weights["enough"] for row in rows]


def text(rows: Sequence[dict[str, Any]], weights: dict[str, float]) -> str:
    """The figures as they are kept."""
    lines = ["kind        half    n      speaks   right, where it speaks   silent"]
    for name, part in zip(("first", "second"), halves(rows), strict=True):
        for kind in ("question", "wrapped", "issue", "prompts", "unseen"):
            own = [row for row in part if row["kind"] == kind]
            if not own:
                continue
            speaks = spoken(own, weights)
            given = [row for row, said in zip(own, speaks, strict=True) if said]
            share = sum(speaks) / len(own)
            hits = sum(row.get("right", False) for row in given) / max(1, len(given))
            right, silent = (f"{hits:.3f}", "–") if "right" in own[0] else ("–", f"{1 - share:.3f}")
            lines.append(f"{kind:<11} {name:<7} {len(own):<6} {share:<8.3f} {right:<24} {silent}")
    return "\n".join(lines) + "\n"


HEAD = """\
`satchel hook` on questions about the code (short, and wrapped in a sentence), on issue reports, and on
prompts that are not about the code, each asked of every repository; packs of 2,000 tokens. Weights are chosen
on the first half of repositories and prompts. right: a file of the answer is in the pack.

"""


def main() -> None:
    """Ask, fit, tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--copies", type=Path, help="working copies, for short questions")
    parser.add_argument("--issues", type=Path, help="clones, for issues at their commits")
    parser.add_argument("--index", type=Path)
    parser.add_argument("--out", type=Path, help="where rows are kept")
    parser.add_argument("--rows", type=Path, action="append", default=[])
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--text", type=Path)
    options = parser.parse_args()
    if options.queries:
        found = list(ask_issues(options) if options.issues else ask_questions(options))
        options.out.write_text(json.dumps(found), encoding="utf-8")
        return
    rows = [row for path in options.rows for row in json.loads(path.read_text(encoding="utf-8"))]
    if options.fit:
        made = {"weights": fitted(halves(rows)[0]), "fitted_by": "benchmarks/hooks/measure.py"}
        WEIGHTS.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    shown = HEAD + text(rows, json.loads(WEIGHTS.read_text(encoding="utf-8"))["weights"])
    if options.text:
        options.text.write_text(shown, encoding="utf-8")
    print(shown, end="")


if __name__ == "__main__":
    main()
