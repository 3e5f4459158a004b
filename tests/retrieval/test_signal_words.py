"""The signals of words: in a file's best unit, its best few, all of it, its names, its folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Files, make_tree, memory_engine, signals

FILLER = "".join(f"value_{number} = {number}\n" for number in range(30))
UNITS = ("unit_blend", "unit_full", "unit_title", "units_blend")


def words(tmp_path: Path, tree: Files, query: str) -> dict[str, dict[str, float]]:
    return signals(memory_engine(make_tree(tmp_path, tree)), query, "words")


@pytest.mark.parametrize("name", [*UNITS, "file_full"])
def test_the_best_file_has_one_and_the_rest_less(tmp_path: Path, name: str) -> None:
    found = words(tmp_path, {"a.md": "till drawer\n", "b.md": "till\n", "c.md": "grey\n"}, "till drawer")
    assert found[name]["a.md"] == 1.0 > found[name]["b.md"] > 0 and "c.md" not in found[name]


@pytest.mark.parametrize("name", [*UNITS, "names_blend"])
def test_a_word_in_a_name_counts_more_than_one_in_the_text(tmp_path: Path, name: str) -> None:
    tree = {"a.py": "def till():\n    return 1\n", "b.py": "def shop():\n    return till\n"}
    found = words(tmp_path, tree, "till")
    assert found[name]["a.py"] == 1.0 > found[name]["b.py"]


@pytest.mark.parametrize("name", ["unit_full", "file_full"])
def test_a_word_in_a_long_text_counts_less(tmp_path: Path, name: str) -> None:
    found = words(tmp_path, {"a.py": "x = till\n", "b.py": f"x = till\n{FILLER}"}, "till")
    assert found[name]["a.py"] > found[name]["b.py"]


def test_words_that_stand_together_count_in_the_best_unit(tmp_path: Path) -> None:
    apart = "x = till\n" + FILLER * 4 + "x = drawer\n"
    found = words(tmp_path, {"a.py": "x = till\nx = drawer\n" + FILLER * 4, "b.py": apart}, "till drawer")
    assert found["unit_full"]["a.py"] > found["unit_full"]["b.py"]


def test_evidence_that_is_spread_counts_in_the_best_four(tmp_path: Path) -> None:
    part = "def step():\n    x = till\n" + FILLER.replace("value", "    value") + "\n\n"
    found = words(tmp_path, {"a.py": part * 4, "b.py": part}, "till")
    assert found["units_blend"]["b.py"] < 0.5 * found["units_blend"]["a.py"]
    assert found["unit_full"]["b.py"] == pytest.approx(found["unit_full"]["a.py"], rel=0.1)


def test_only_named_words_count_as_names(tmp_path: Path) -> None:
    tree = {"a.md": "coin slot\n", "b.md": "till rejects\n"}
    found = words(tmp_path, tree, "the till rejects `CoinSlot`")["unit_names"]
    assert found["a.md"] == 1.0 and found["b.md"] == 0.0


def test_the_folder_counts_once_however_long_the_file_is(tmp_path: Path) -> None:
    tree = {"till/a.py": "x = 1\n", "till/b.py": FILLER * 8, "shop/c.py": "till = 1\n"}
    found = words(tmp_path, tree, "till")["folder_blend"]
    assert found["till/a.py"] == found["till/b.py"] == 1.0 and found["shop/c.py"] == 0.0


def test_a_rare_word_counts_more_than_a_common_one(tmp_path: Path) -> None:
    tree = {f"n{number}.md": "till\n" for number in range(9)} | {"z.md": "drawer\n"}
    found = words(tmp_path, tree, "till drawer")["unit_full"]
    assert found["z.md"] > found["n0.md"]


def test_the_best_unit_has_a_signal_of_its_own_when_a_mechanism_is_asked_for(tmp_path: Path) -> None:
    tree = {"a.md": "till drawer\n", "b.md": "till\n"}
    found = words(tmp_path / "how", tree, "how the till drawer works")
    assert found["unit_how"] == found["unit_blend"]
    assert not any(words(tmp_path / "plain", tree, "till drawer")["unit_how"].values())
