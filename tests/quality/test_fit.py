"""The fit finds the one minimum, sees nothing of a repository that is left out, and keeps what it found."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "quality"))

import features
import fit
from features import Asked, Features, Looked
from listwise import Lists, Loss

from satchel import plugins
from satchel.evaluation.cases import Gold

MEANING = plugins.load("signal", "meaning").signals[0]


def make_lists(seed: int, questions: int = 6, signals: int = 4) -> Lists:
    random = np.random.default_rng(seed)
    counts = random.integers(2, 7, questions)
    targets = np.concatenate([np.eye(count)[0] for count in counts])
    return Lists(random.normal(size=(counts.sum(), signals)), targets, np.cumsum(counts) - counts)


def make_looked(repository: str, number: int, *, gold_at: int = 0) -> Looked:
    """Twelve candidates; the answer has the word `unit_blend`, mostly."""
    random = np.random.default_rng([number, len(repository)])
    paths = [f"{place:02}.py" for place in range(12)]
    names = ("unit_blend", "units_blend", "unit_title", "test", MEANING)
    signals = {name: random.random(12).astype(np.float32) for name in names}
    signals["unit_blend"][gold_at] += 0.5
    asked = Asked(
        "semble", repository, f"own/{repository}", str(number), "symbol", "python", (Gold(paths[gold_at]),)
    )
    return Looked(asked, paths, np.arange(12) == gold_at, signals)


def make_features(folder: Path, looked: list[Looked]) -> Features:
    features.write(folder / "features.npz", looked)
    return features.read(folder / "features.npz")


def folds_of(asked: Features) -> dict[str, dict[str, float]]:
    problem = fit.Problem(sorted(asked.names), [asked], [None], 1e-3)
    importance = fit.importance_of(problem.sorts, {fit.Sort.SHORT: 1.0})
    return fit.cross_validated(problem, importance, problem.fit(importance), asked)[0]


def test_a_fit_stays_near_its_prior_where_the_questions_say_nothing() -> None:
    lists = make_lists(1)
    idle = Lists(np.column_stack((lists.values, np.zeros(len(lists.values)))), lists.targets, lists.starts)
    prior = np.array([0.0, 0.0, 0.0, 0.0, 2.5])
    found = Loss(idle, np.ones(6), 1e-3, prior).minimum()
    assert abs(found[4] - 2.5) < 1e-6
    assert np.allclose(found[:4], Loss(lists, np.ones(6), 1e-3).minimum(), atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_the_slope_of_the_loss(seed: int) -> None:
    loss = Loss(make_lists(seed), np.arange(1.0, 7.0), l2=0.01)
    weights = np.random.default_rng(seed).normal(size=4)
    small = 1e-6
    slopes = [
        (loss.value(weights + small * way) - loss.value(weights - small * way)) / (2 * small)
        for way in np.eye(4)
    ]
    assert loss.gradient(weights) == pytest.approx(slopes, abs=1e-7)


def test_two_contradicting_questions_give_the_logarithm_of_their_odds() -> None:
    lists = Lists(np.array([[1.0], [0.0]] * 2), np.array([1.0, 0.0, 0.0, 1.0]), np.array([0, 2]))
    found = Loss(lists, np.array([3.0, 1.0]), l2=1e-12).minimum()
    assert found == pytest.approx([math.log(3)], abs=1e-9)


def test_the_penalty_holds_a_weight_that_would_grow_for_ever() -> None:
    lists = Lists(np.array([[1.0], [0.0]]), np.array([1.0, 0.0]), np.array([0]))
    (weight,) = Loss(lists, np.ones(1), l2=0.05).minimum()
    assert 1 / (1 + math.exp(weight)) == pytest.approx(2 * 0.05 * weight)


@pytest.mark.parametrize("seed", range(3))
def test_the_minimum_is_flat_and_the_same_from_any_start(seed: int) -> None:
    loss = Loss(make_lists(seed), np.ones(6), l2=1e-3)
    found = loss.minimum()
    assert np.abs(loss.gradient(found)).max() < 1e-9
    assert loss.minimum(np.full(4, 5.0)) == pytest.approx(found, abs=1e-9)
    assert loss.minimum().tobytes() == found.tobytes()


def test_a_question_that_counts_nothing_is_as_if_absent() -> None:
    lists = make_lists(1)
    end = int(lists.starts[-1])
    shorter = Lists(lists.values[:end], lists.targets[:end], lists.starts[:-1])
    left_out = Loss(lists, np.array([1.0, 1, 1, 1, 1, 0]), 0.01).minimum()
    assert left_out == pytest.approx(Loss(shorter, np.ones(5), 0.01).minimum(), abs=1e-9)


def test_a_dump_is_read_as_it_was_written(tmp_path: Path) -> None:
    looked = [make_looked("one", 1), make_looked("two", 2, gold_at=5)]
    read = make_features(tmp_path, looked)
    assert read.questions == [item.asked for item in looked]
    assert read.paths == looked[0].paths + looked[1].paths
    assert read.columns(["test"])[12:, 0] == pytest.approx(looked[1].signals["test"])
    assert np.flatnonzero(read.is_gold).tolist() == [0, 17]


def test_a_signal_that_a_dump_does_not_know_is_zero(tmp_path: Path) -> None:
    assert not make_features(tmp_path, [make_looked("one", 1)]).columns(["history_recent"]).any()


def test_the_rough_order_is_by_words_with_tests_later(tmp_path: Path) -> None:
    words = np.array([0.1, 0.9, 0.8], np.float32)
    signals = {"unit_blend": words, "units_blend": words, "unit_title": words}
    signals["test"] = np.array([0, 1, 0], np.float32)
    looked = make_looked("one", 1)._replace(paths=["a", "b", "c"], is_gold=np.arange(3) == 0, signals=signals)
    assert make_features(tmp_path, [looked]).rough.tolist() == [2, 1, 0]


def test_a_fit_looks_at_the_first_candidates_and_the_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "FIRST", 3)
    asked = make_features(tmp_path, [make_looked("one", 1)._replace(is_gold=np.arange(12) >= 10)])
    later = np.count_nonzero(asked.rough[10:] >= 3)
    problem = fit.Problem(["test"], [asked], [None], 1e-3)
    assert len(problem.lists.values) == 3 + later
    assert problem.lists.targets.sum() == pytest.approx(1)


def test_a_question_whose_answer_is_no_candidate_teaches_nothing(tmp_path: Path) -> None:
    lost = make_looked("two", 2)._replace(is_gold=np.zeros(12, bool))
    problem = fit.Problem(["test"], [make_features(tmp_path, [make_looked("one", 1), lost])], [None], 1e-3)
    assert len(problem.questions) == 1 and len(problem.lists.values) == 12


def test_a_question_without_candidates_is_kept_and_teaches_nothing(tmp_path: Path) -> None:
    empty = make_looked("two", 2)._replace(paths=[], is_gold=np.zeros(0, bool), signals={})
    asked = make_features(tmp_path, [make_looked("one", 1), empty, make_looked("three", 3)])
    problem = fit.Problem(sorted(asked.names), [asked], [None], 1e-3)
    assert [question.id for question in problem.questions] == ["1", "3"]
    assert problem.lists.starts.tolist() == [0, 12]


def test_the_questions_of_a_sort_count_their_factor_in_all(tmp_path: Path) -> None:
    asked = make_features(tmp_path, [make_looked("one", number) for number in range(3)])
    more = make_features(tmp_path, [make_looked("two", 1)])
    sorts = fit.Problem(["test"], [asked, more], [None, fit.Sort.EXTRA], 1e-3).sorts
    assert sorts == [fit.Sort.SHORT] * 3 + [fit.Sort.EXTRA]
    counted = fit.importance_of(sorts, {fit.Sort.SHORT: 1.0, fit.Sort.EXTRA: 0.5})
    assert counted == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.5])


def test_the_weights_of_a_fold_do_not_depend_on_the_repository_left_out(tmp_path: Path) -> None:
    others = [make_looked("others", number) for number in range(8)]
    right = folds_of(make_features(tmp_path, [*others, make_looked("own", 1)]))
    wrong = folds_of(make_features(tmp_path, [*others, make_looked("own", 1, gold_at=7)]))
    assert right["own/own"] == wrong["own/own"]
    assert right["own/others"] != wrong["own/others"]


def test_one_repository_alone_cannot_be_cross_validated(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="one repository"):
        folds_of(make_features(tmp_path, [make_looked("one", 1)]))


@pytest.fixture
def fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_features(tmp_path, [make_looked(name, number) for name in ("one", "three") for number in range(5)])
    assert run_fit(tmp_path, monkeypatch) == 0
    return tmp_path / "weights.json"


def run_fit(folder: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> int:
    monkeypatch.setattr(
        "sys.argv", ["fit", f"{folder}/features.npz", "--out", f"{folder}/weights.json", *more]
    )
    return fit.main()


def test_the_weights_are_written_in_order_and_a_second_fit_gives_the_same_bytes(
    fitted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fitted.read_bytes()
    weights = msgspec.json.decode(first)["weights"]
    assert list(weights) == sorted(weights) and weights["unit_blend"] > 0
    run_fit(fitted.parent, monkeypatch)
    assert fitted.read_bytes() == first


def test_a_group_of_signals_is_left_out(fitted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_fit(fitted.parent, monkeypatch, "--without", "meaning")
    kept = msgspec.json.decode(fitted.read_bytes())
    assert kept["model"] == "lexical" and MEANING not in kept["weights"]


@pytest.mark.parametrize("edit", [("test", 9.0), ("unheard_of", 1.0)])
def test_a_check_finds_weights_that_were_changed(
    fitted: Path, monkeypatch: pytest.MonkeyPatch, edit: tuple[str, float]
) -> None:
    assert run_fit(fitted.parent, monkeypatch, "--check") == 0
    kept = msgspec.json.decode(fitted.read_bytes())
    kept["weights"][edit[0]] = edit[1]
    fitted.write_bytes(msgspec.json.encode(kept))
    assert run_fit(fitted.parent, monkeypatch, "--check") == 1
