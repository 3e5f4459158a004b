"""The signals of paths: a file's own name and its folder's, against the words of the query."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine, signals

from satchel.retrieval.signals.paths import path_words


def paths(tmp_path: Path, names: list[str], query: str) -> dict[str, dict[str, float]]:
    """All files hold all words of the query, so that all are candidates."""
    return signals(memory_engine(make_tree(tmp_path, dict.fromkeys(names, f"{query}\n"))), query, "paths")


@pytest.mark.parametrize(
    ("path", "stem", "folder"),
    [
        ("src/http/index.ts", ("http",), ("src",)),
        ("src/http/__init__.py", ("http",), ("src",)),
        ("cart/basket.spec.ts", ("basket",), ("cart",)),
        ("types/basket.d.ts", ("basket",), ("types",)),
        ("lib/RouterGroup.go", ("router", "group"), ("lib",)),
        ("my-shop/add-item.py", ("add", "item"), ("my", "shop")),
        ("README.md", ("readme",), ()),
        ("index.js", ("index",), ()),
        ("Makefile", ("makefile",), ()),
        (".github/ci.yml", ("ci",), ("github",)),
    ],
)
def test_a_path_in_words(path: str, stem: tuple[str, ...], folder: tuple[str, ...]) -> None:
    assert (path_words(path).stem, path_words(path).folder) == (stem, folder)


def test_the_share_of_the_name_that_is_asked_for(tmp_path: Path) -> None:
    found = paths(tmp_path, ["till.py", "till_drawer.py", "grey.py"], "open the till")["stem_share_full"]
    assert found["till.py"] == 1.0 > found["till_drawer.py"] > found["grey.py"] == 0.0


def test_a_word_that_many_names_have_counts_little(tmp_path: Path) -> None:
    names = [f"core_{word}.py" for word in ("till", "drawer", "grey", "coin", "slot")] + ["till_roll.py"]
    found = paths(tmp_path, names, "open the till")
    assert found["stem_share_full"]["core_till.py"] > 0.8 > found["stem_share_full"]["till_roll.py"]
    assert found["stem_whole_full"]["core_till.py"] > found["stem_whole_full"]["till_roll.py"] == 0.0


@pytest.mark.parametrize(
    "said", [{"README.md": "# Till.js\n\nSells.\n"}, {"package.json": '{\n "name": "@shop/till"\n}\n'}]
)
def test_the_name_of_the_project_counts_nothing(tmp_path: Path, said: dict[str, str]) -> None:
    tree = {**dict.fromkeys(["till.js", "till-drawer.js", "grey.js"], "the till drawer\n"), **said}
    engine = memory_engine(make_tree(tmp_path, tree))
    found = signals(engine, "till drawer", "paths")
    assert (
        found["stem_whole_full"]["till-drawer.js"] == 1.0 and found["stem_joined_full"]["till-drawer.js"] > 0
    )
    assert found["stem_share_full"]["till.js"] == found["stem_share_full"]["grey.js"] == 0.0
    # Asked for alone, it is a word as any other.
    assert signals(engine, "till", "paths")["stem_share_full"]["till.js"] == 1.0


@pytest.mark.parametrize(
    ("name", "query"),
    [("auth.py", "authentication"), ("authentication.py", "auth"), ("tills.py", "till")],
)
def test_the_start_of_a_word_and_its_plural_are_alike(tmp_path: Path, name: str, query: str) -> None:
    assert paths(tmp_path, [name], query)["stem_share_full"][name] == 1.0


def test_a_start_of_two_letters_is_not_alike(tmp_path: Path) -> None:
    assert paths(tmp_path, ["au.py"], "authentication")["stem_share_full"]["au.py"] == 0.0


def test_a_whole_name_counts_by_how_much_of_the_query_it_is(tmp_path: Path) -> None:
    names = ["till_drawer.py", "till.py", "till_grey.py"]
    found = paths(tmp_path, names, "till drawer")["stem_whole_full"]
    assert found["till_drawer.py"] == pytest.approx(1.0) and found["till_grey.py"] == 0.0
    assert 0 < found["till.py"] < 1


@pytest.mark.parametrize("name", ["coinslot.py", "coin_slot.py", "CoinSlot.java", "coin-slots.js"])
def test_adjacent_words_are_one_name(tmp_path: Path, name: str) -> None:
    assert paths(tmp_path, [name], "where is the coin slot")["stem_joined_full"][name] > 0


def test_words_that_are_apart_are_not_one_name(tmp_path: Path) -> None:
    assert paths(tmp_path, ["coinslot.py"], "coin of the grey slot")["stem_joined_full"]["coinslot.py"] == 0


def test_the_file_of_an_early_word_comes_before_that_of_a_late_one(tmp_path: Path) -> None:
    found = paths(tmp_path, ["till.py", "drawer.py"], "till with a grey drawer")["stem_rarest_title"]
    assert found["till.py"] == 1.0 > found["drawer.py"] > 0


def test_the_nearest_folder_counts_and_others_do_not(tmp_path: Path) -> None:
    names = ["till/a.py", "till/shop/a.py", "shop/till/a.py"]
    found = paths(tmp_path, names, "till")["folder_share_title"]
    assert found == {"till/a.py": 1.0, "till/shop/a.py": 0.0, "shop/till/a.py": 1.0}


def test_the_title_of_an_issue_is_measured_apart_from_the_whole(tmp_path: Path) -> None:
    query = "Till jams\n\nThe drawer is grey.\n"
    found = paths(tmp_path, ["till.py", "drawer.py"], query)
    assert found["stem_joined_title"]["till.py"] > 0 == found["stem_joined_title"]["drawer.py"]
    assert found["stem_joined_full"]["drawer.py"] > 0
