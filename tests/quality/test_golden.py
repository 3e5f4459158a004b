"""A small set of questions whose answers are kept as text, so that a change of the ranking shows as a diff.

The questions are in the form that `satchel eval` takes. They are asked of the example shop and of the small projects in
`projects/`, one for each of several languages. `pytest tests/quality --update-golden` writes the answers anew; read the
diff before committing.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import make_engine

from satchel.evaluation.cases import Case, read_dataset
from satchel.evaluation.metrics import PRIMARY
from satchel.evaluation.run import ScoredAnswer, run_dataset, with_profile
from satchel.evaluation.statistics import groups, summarise
from satchel.settings import FAST, QUALITY
from satchel.storage.memory import MemoryStore

HERE = Path(__file__).parent
GOLDEN = HERE / "golden.txt"
FOLDERS = {path.name: path for path in sorted((HERE / "projects").iterdir())} | {
    "shop": HERE.parents[1] / "examples" / "shop"
}
CASES = read_dataset(HERE / "questions.jsonl")
SHOWN = 3  # files of each answer that are kept


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[ScoredAnswer]]:
    """The answers by profile. The folders are copied, so that no rule of this repository is seen."""
    found: dict[str, list[ScoredAnswer]] = {QUALITY: [], FAST: []}
    for name, folder in FOLDERS.items():
        copy = tmp_path_factory.mktemp("golden") / name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("_ctx", "__pycache__"))
        cases = [case for case in CASES if case.repo == name]
        with make_engine(copy, MemoryStore()) as engine:
            for profile in found:
                found[profile] += run_dataset(with_profile(engine, profile), cases, len).answers
    return found


def files_of(answer: ScoredAnswer) -> list[str]:
    return list(dict.fromkeys(result.path for result in answer.results))


def lines_of(answer: ScoredAnswer) -> Iterator[str]:
    case, files = answer.case, files_of(answer)
    gold = [item.path for item in case.gold]
    ranks = [str(files.index(path) + 1) if path in files else "none" for path in gold]
    title = case.query.partition("\n")[0]
    yield f"{case.id} {case.category}: {title}"
    yield f"  expected at {', '.join(ranks)} · ndcg {answer.scores[PRIMARY]:.3f}"
    yield from (f"  {'*' if path in gold else ' '} {path}" for path in files[:SHOWN])


def text_of(answers: list[ScoredAnswer]) -> str:
    means = {"all": summarise(answers), **groups(answers, "category")}
    rows = [f"{name:14}{mean[PRIMARY].n:4}{mean[PRIMARY].mean:8.3f}" for name, mean in means.items()]
    return "\n".join([*rows, "", *(line for answer in answers for line in lines_of(answer))]) + "\n"


def test_the_answers_are_those_that_were_kept(
    answers: dict[str, list[ScoredAnswer]], update_golden: bool
) -> None:
    found = text_of(answers[QUALITY])
    if update_golden:
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(("profile", "least"), [(QUALITY, 0.88), (FAST, 0.85)])
def test_the_answers_stay_good(answers: dict[str, list[ScoredAnswer]], profile: str, least: float) -> None:
    assert summarise(answers[profile])[PRIMARY].mean >= least


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_expected_file_is_there(case: Case) -> None:
    assert all((FOLDERS[case.repo] / gold.path).is_file() for gold in case.gold)
