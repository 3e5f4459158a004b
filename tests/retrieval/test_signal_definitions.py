"""The signals of definitions: does a file define what the query speaks of, by name?"""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Files, make_tree, memory_engine, signals
from hypothesis import given
from hypothesis import strategies as st

from satchel.retrieval.file_cache import encode_name
from satchel.retrieval.signals.definitions import _name_terms
from satchel.terms import terms

TREE: Files = {
    "slot.py": "class CoinSlot:\n    def insert(self):\n        pass\n",
    "user.py": "from slot import CoinSlot\n\nCoinSlot().insert()\n",
    "other.py": "def coinslot():\n    pass\n",
    "tests/test_slot.py": "class CoinSlot:\n    pass\n",
}


def definitions(tmp_path: Path, query: str, tree: Files = TREE) -> dict[str, dict[str, float]]:
    return signals(memory_engine(make_tree(tmp_path, tree)), query, "definitions")


def test_a_query_that_is_an_identifier_is_answered_by_its_definition(tmp_path: Path) -> None:
    found = definitions(tmp_path, "CoinSlot")
    symbol = found["definition_symbol"]
    assert symbol["slot.py"] == 1.0 > symbol["other.py"] > 0 and symbol["user.py"] == 0.0
    assert not any(found["definition_exact"].values())


def test_an_identifier_inside_a_sentence_counts_apart(tmp_path: Path) -> None:
    found = definitions(tmp_path, "where does CoinSlot jam")
    assert found["definition_exact"]["slot.py"] == 1.0 and found["definition_exact"]["user.py"] == 0.0
    assert not any(found["definition_symbol"].values())


def test_a_sentence_without_identifiers_has_no_exact_definition(tmp_path: Path) -> None:
    assert not any(definitions(tmp_path, "where is the slot of a coin")["definition_exact"].values())


@pytest.mark.parametrize("name", ["definition_words", "type_words"])
def test_a_name_made_of_the_words_asked_for_counts(tmp_path: Path, name: str) -> None:
    tree = {
        "a.py": "class CoinSlot:\n    pass\n",
        "b.py": "class CoinPurse:\n    pass\n",
        "c.py": "print(coin, slot)\n",
    }
    found = definitions(tmp_path, "slot of a coin", tree)[name]
    assert found["a.py"] > found["b.py"] > 0 == found["c.py"]


def test_only_types_count_as_types(tmp_path: Path) -> None:
    found = definitions(tmp_path, "insert", TREE)
    assert found["definition_words"]["slot.py"] > 0 == found["type_words"]["slot.py"]


def test_an_identifier_in_the_prose_of_a_report_counts(tmp_path: Path) -> None:
    found = definitions(tmp_path, "It jams\n\nThe `CoinSlot` is stuck.\n")["definition_prose"]
    assert found["slot.py"] > 0 and found["user.py"] == 0.0


def test_definitions_in_tests_do_not_count(tmp_path: Path) -> None:
    found = definitions(tmp_path, "it jams\n\nThe `CoinSlot` is stuck.\n")["definition_prose"]
    assert found["tests/test_slot.py"] == 0.0 < found["slot.py"]


def test_a_name_that_nine_files_define_tells_nothing(tmp_path: Path) -> None:
    tree = {f"n{number}.py": "class CoinSlot:\n    pass\n" for number in range(9)}
    assert not any(
        definitions(tmp_path, "It jams\n\nThe `CoinSlot` is stuck.\n", tree)["definition_prose"].values()
    )


def test_the_fewer_files_define_a_name_the_more_it_counts(tmp_path: Path) -> None:
    tree = {"a.py": "class CoinSlot:\n    pass\n", "b.py": "class TillDrawer:\n    pass\n"}
    tree |= {"c.py": tree["b.py"]}
    found = definitions(tmp_path, "It jams\n\n`CoinSlot` and `TillDrawer`\n", tree)["definition_prose"]
    assert found["a.py"] > found["b.py"] == found["c.py"] > 0


def test_two_adjacent_words_are_one_identifier(tmp_path: Path) -> None:
    found = definitions(tmp_path, "where is the coin slot")["joined_words"]
    assert found["slot.py"] == 1.0 > found["user.py"] > 0


def test_words_that_are_apart_are_no_identifier(tmp_path: Path) -> None:
    assert not any(definitions(tmp_path, "the coin in the grey slot")["joined_words"].values())


def test_the_comment_that_opens_a_file_counts(tmp_path: Path) -> None:
    tree = {"a.py": '"""Keeps the drawer shut."""\n\nx = 1\n', "b.py": "x = 1\n\n\ndrawer = shut = 1\n"}
    found = definitions(tmp_path, "drawer shut", tree)["head_comment"]
    assert found["a.py"] > 0.9 and found["b.py"] == 0.0


def test_a_name_without_words_is_no_definition_of_any(tmp_path: Path) -> None:
    tree = {"a.rb": "def drawer = 1\n", "b.js": "const _ = drawer;\nfunction __() { return drawer; }\n"}
    found = definitions(tmp_path, "drawer", tree)["definition_words"]
    assert found["b.js"] == 0.0


def test_a_word_of_one_letter_is_asked_for_like_any_other(tmp_path: Path) -> None:
    tree = {"a.py": "def y():\n    return 1\n", "b.py": "def drawer():\n    return y\n"}
    found = definitions(tmp_path, "y of the drawer", tree)["definition_words"]
    assert found["b.py"] > 0


@given(name=st.one_of(st.text(max_size=12), st.from_regex(r"[A-Za-z_]\w{0,12}", fullmatch=True)))
def test_a_name_has_the_terms_that_it_has_in_a_text(name: str) -> None:
    plain = dict.fromkeys(term for term in terms(name) if term[0] != "=")
    assert _name_terms(encode_name(name)) == tuple(plain)


@pytest.mark.parametrize(
    ("query", "defined"),
    [
        ("queries 7", "def query():\n    pass\n"),  # written in another form
        ("y 2", "def __Y2():\n    pass\n"),  # met by its digit alone
        ("änderung date", "def ÄNDERUNG_date():\n    pass\n"),  # met by its other word alone
    ],
)
def test_a_name_that_is_written_otherwise_counts_too(tmp_path: Path, query: str, defined: str) -> None:
    found = definitions(tmp_path, query, {"a.py": defined, "b.py": "x = 1\n"})
    assert found["definition_words"]["a.py"] > 0


@pytest.mark.parametrize("name", ["joined_words", "definition_exact"])
def test_names_count_once_more_when_a_mechanism_is_asked_for(tmp_path: Path, name: str) -> None:
    words = "coin slot" if name == "joined_words" else "CoinSlot"
    found = definitions(tmp_path / "how", f"how the {words} takes money")
    assert any(found[name].values()) and found[f"{name}_how"] == found[name]
    plain = definitions(tmp_path / "plain", f"the {words} takes money")
    assert any(plain[name].values()) and not any(plain[f"{name}_how"].values())


def test_the_title_of_a_report_is_measured_apart(tmp_path: Path) -> None:
    tree = {"a.py": "def open_till():\n    pass\n", "b.py": "def shut_drawer():\n    pass\n"}
    engine = memory_engine(make_tree(tmp_path, tree))
    found = signals(engine, "Open till jams\n\nShut drawer first, then open.\n", "definitions")
    assert found["definition_title"]["a.py"] > 0 == found["definition_title"]["b.py"]
    assert set(signals(engine, "open till", "definitions")["definition_title"].values()) == {0.0}
