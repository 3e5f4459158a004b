"""Hit lines: the chunk that defines what was asked for, or the one with the best words, then what adds to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine
from hypothesis import given
from hypothesis import strategies as st

from satchel.retrieval.filters import Filters
from satchel.retrieval.hit_lines import asked_in, terms_in
from satchel.types import Hit

FILLER = "".join(f"    step_{number} = {number}\n" for number in range(40))
CODE = (
    f"def open_till():\n    CoinSlot = basket_basket_basket()\n{FILLER}\n\n"
    f"class CoinSlot:\n    shape = 'round'\n{FILLER}\n\n"
    f"def close_till():\n    basket = 1\n{FILLER}\n\n"
    f"def paint_walls():\n    colour = 'grey'\n{FILLER}\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_tree(tmp_path, {"till.py": CODE})


def hits(root: Path, query: str, chunk_type: str = "") -> list[Hit]:
    return memory_engine(root).search(query, 100, Filters(chunk_type=chunk_type))[0]


def names(root: Path, query: str, chunk_type: str = "") -> list[str]:
    return [hit.name for hit in hits(root, query, chunk_type)]


def test_the_chunk_that_defines_a_symbol_comes_first(root: Path) -> None:
    assert names(root, "CoinSlot")[0] == "CoinSlot"


def test_a_query_in_words_gets_the_chunk_with_the_best_words(root: Path) -> None:
    assert names(root, "grey colour of walls")[0] == "paint_walls"
    assert names(root, "basket")[0] in ("open_till", "close_till")


def test_a_name_in_another_case_is_not_taken_for_the_definition(tmp_path: Path) -> None:
    text = f"def coinSlot():\n    return 0\n{FILLER}\n\nclass CoinSlot:\n    shape = 1\n{FILLER}"
    root = make_tree(tmp_path, {"a.py": text})
    assert (names(root, "coinSlot")[0], names(root, "CoinSlot")[0]) == ("coinSlot", "CoinSlot")


def test_only_chunks_of_the_type_asked_for_are_shown(root: Path) -> None:
    assert names(root, "basket till", "class") == ["CoinSlot"]
    assert hits(root, "basket", "section") == []


def test_a_unit_that_is_much_weaker_adds_nothing(root: Path) -> None:
    assert "paint_walls" not in names(root, "CoinSlot round shape")


def test_no_chunk_is_shown_twice(root: Path) -> None:
    shown = names(root, "till basket CoinSlot step")
    assert len(shown) == len(set(shown)) > 1


def test_small_neighbours_in_one_unit_follow_if_they_hold_a_word(tmp_path: Path) -> None:
    text = "# One\n\nbasket basket\n\n# Two\n\nbasket\n\n# Three\n\nnothing\n"
    assert names(make_tree(tmp_path, {"a.md": text}), "basket") == ["One", "Two"]


def test_further_chunks_of_a_definition_s_unit_follow_it(tmp_path: Path) -> None:
    text = "# The CoinSlot\nopen = CoinSlot\n\n\nclass CoinSlot:\n    pass\n\n\ndef other():\n    pass\n"
    shown = hits(make_tree(tmp_path, {"a.py": text}), "CoinSlot")
    assert [hit.start_line for hit in shown] == [5, 1]


def test_what_is_shown_is_whole_lines_of_one_chunk(root: Path) -> None:
    lines = CODE.splitlines(keepends=True)
    for hit in hits(root, "till basket CoinSlot"):
        assert hit.text == "".join(lines[hit.start_line - 1 : hit.end_line])


def test_of_a_long_chunk_the_lines_with_the_query_s_words_are_shown(tmp_path: Path) -> None:
    text = f"def open_till():\n{FILLER * 3}    needle = haystack\n{FILLER * 3}"
    (hit,) = hits(make_tree(tmp_path, {"a.py": text}), "needle haystack")
    assert "needle = haystack\n" in hit.text and "needle" in hit.snippet


def test_a_file_that_is_named_only_by_its_path_shows_its_first_lines(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"basket/till.py": "def one():\n    pass\n\n\ndef two():\n    pass\n"})
    assert hits(root, "basket")[0].start_line == 1


def test_tests_beside_the_code_are_shown_after_it_unless_they_are_asked_for(tmp_path: Path) -> None:
    filler = "".join(f"    let step_{number} = weigh(parcel, {number});\n" for number in range(30))
    text = (
        f"pub fn post(parcel: Parcel) {{\n{filler}}}\n\n#[cfg(test)]\nmod tests {{\n"
        f"    fn parcel_stamp_weight() {{\n        // parcel stamp weight, parcel stamp\n{filler}    }}\n}}\n"
    )
    root = make_tree(tmp_path, {"post.rs": text})
    assert names(root, "parcel stamp weight")[0] == "post"
    assert names(root, "tests of the parcel stamp weight")[0] != "post"


def test_a_list_of_names_is_shown_after_what_they_name(tmp_path: Path) -> None:
    listing = "__all__ = [\n" + "".join(f'    "coin_path_{number}",\n' for number in range(30)) + "]\n"
    code = f"{listing}\n\ndef coin_path_7():\n    return 'the path of a coin'\n{FILLER}\n"
    found = names(make_tree(tmp_path / "both", {"paths.py": code}), "path of a coin")
    assert found == ["coin_path_7", "__all__"]
    assert names(make_tree(tmp_path / "one", {"paths.py": listing}), "path of a coin") == ["__all__"]


LINE = st.sampled_from(
    [
        "",
        "\n",
        "session",
        "the_sessions = 1\n",
        "Über session\n",
        "x\0session\n",
        "QUERIES",
        "que_ries",
        "a b",
    ]
)


@given(
    lines=st.lists(LINE, max_size=6),
    asked=st.frozensets(st.sampled_from(["session", "query", "=thesession", "über", "nothing"])),
)
def test_the_terms_of_many_lines_are_those_of_each(lines: list[str], asked: frozenset[str]) -> None:
    assert asked_in(lines, asked) == [terms_in(line) & asked for line in lines]
