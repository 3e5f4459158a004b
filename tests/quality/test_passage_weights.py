"""The weights of passages: what holds the answers' lines is learnt, an answer without lines teaches its files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "quality"))

import passages
from passages import Looked

TELLING, IDLE = "passage_words", "passage_size"


def make_looked(repository: str, number: int, *, has_lines: bool = True) -> Looked:
    """Eight passages; the telling signal is highest where the answer is."""
    random = np.random.default_rng([number, len(repository)])
    targets = np.zeros(8)
    targets[: 1 if has_lines else 4] = 1.0
    values = {name: random.random(8).astype(np.float32) for name in (TELLING, IDLE)}
    values[TELLING][0] += 1.0
    return Looked(repository, "swe_lite", has_lines, values, targets / targets.sum())


def options(folder: Path, found: list[Looked], **changed: object) -> argparse.Namespace:
    passages.write(folder / "passages.npz", found)
    usual = {
        "passages": folder / "passages.npz",
        "extra": [],
        "without": [],
        "prior": None,
        "extra_weight": 1.0,
        "short_weight": 1.0,
        "l2": 1e-3,
        "folds": None,
        "all_folds": None,
        "out": folder / "weights.json",
    }
    return argparse.Namespace(**usual | changed)


def fitted(folder: Path, found: list[Looked], **changed: object) -> dict[str, float]:
    wanted = options(folder, found, **changed)
    passages.fit(wanted)
    weights: dict[str, float] = msgspec.json.decode(wanted.out.read_bytes())["weights"]
    return weights


def many(*, has_lines: bool = True) -> list[Looked]:
    return [
        make_looked(name, number, has_lines=has_lines) for name in ("a/one", "b/two2") for number in range(9)
    ]


def test_the_signal_that_tells_weighs_more_than_the_one_that_does_not(tmp_path: Path) -> None:
    weights = fitted(tmp_path, many())
    assert weights[TELLING] > 2.0 > abs(weights[IDLE])


def test_a_signal_may_be_left_out(tmp_path: Path) -> None:
    assert set(fitted(tmp_path, many(), without=[IDLE])) == {TELLING}


def test_the_passages_of_an_answer_without_lines_share_as_the_weights_say(tmp_path: Path) -> None:
    passages.write(tmp_path / "passages.npz", [make_looked("a/one", 1, has_lines=False)])
    kept = passages.read(tmp_path / "passages.npz")
    weights = np.array([3.0 if name == TELLING else 0.0 for name in kept.names])
    targets = passages.shared(kept, weights).lists.targets
    assert targets[0] == targets.max() > 0.5 and abs(targets.sum() - 1.0) < 1e-9
    assert (targets[:4] > 0).all() and not targets[4:].any()


def test_a_repository_that_is_left_out_teaches_its_own_fold_nothing(tmp_path: Path) -> None:
    (tmp_path / "files.json").write_text('{"a/one": {"depth": 1.0}, "b/two2": {"depth": 2.0}}')
    folds = tmp_path / "all.json"
    own, other = many()[:9], many()[9:]
    turned = [item._replace(targets=item.targets[::-1].copy()) for item in own]
    kept = []
    for found in ((*own, *other), (*turned, *other)):
        fitted(tmp_path, list(found), folds=tmp_path / "files.json", all_folds=folds)
        kept.append(msgspec.json.decode(folds.read_bytes()))
    assert kept[0]["a/one"] == kept[1]["a/one"] and kept[0]["b/two2"] != kept[1]["b/two2"]
    assert kept[0]["a/one"]["depth"] == 1.0 and TELLING in kept[0]["a/one"]
