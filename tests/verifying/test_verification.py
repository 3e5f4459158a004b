"""True, moved, changed, gone: what becomes of citations when files change, told from real files."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import SHOP, cite, make_item, make_tree, memory_engine
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.engine import Engine
from satchel.ids import hash_text
from satchel.lines import split_lines
from satchel.packing.pack import Item
from satchel.types import Skipped, SkipReason, Source
from satchel.verifying.relocation import CitedTree
from satchel.verifying.saved_pack import Citation, one_line_each
from satchel.verifying.verification import CitationCheck, State, verify

BASKET = "class Basket:\n    def total(self):\n        return sum(self.prices)\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "shop", SHOP)


def citation(item: Item, **others: object) -> Citation:
    values = {
        "path": item.path,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "content_hash": item.content_hash[:12],
        "shown": one_line_each(item.content),
        "kind": item.kind,
        "symbol": item.symbol,
    }
    return Citation(**values | others)  # type: ignore[arg-type]


def check(root: Path, *items: Item, **others: object) -> list[CitationCheck]:
    engine = memory_engine(root)
    tree = CitedTree(engine.read, engine.snapshot, one_line_each)
    return verify([citation(item, **others) for item in items], lambda ref: tree)


def now(result: CitationCheck) -> tuple[State, str]:
    return result.state, str(result.now or "")


def test_the_same_lines_with_the_same_text_are_true(shop: Path) -> None:
    assert [now(one) for one in check(shop, cite(shop, "src/basket.py", 6, 13))] == [
        (State.TRUE, "src/basket.py:6-13")
    ]


def test_no_index_is_asked_for_what_is_true(shop: Path) -> None:
    def never() -> None:
        raise AssertionError("the index was asked")

    tree = CitedTree(Engine.open(shop).read, never, one_line_each)
    (result,) = verify([citation(cite(shop, "src/money.py", 4, 6))], lambda ref: tree)
    assert result.state is State.TRUE


def test_text_that_was_pushed_down_has_moved(shop: Path) -> None:
    item = cite(shop, "src/basket.py", 6, 13)
    make_tree(shop, {"src/basket.py": "# one\n# two\n" + str(SHOP["src/basket.py"])})
    assert now(check(shop, item)[0]) == (State.MOVED, "src/basket.py:8-15")


def test_the_nearest_of_several_copies_is_taken(shop: Path) -> None:
    make_tree(shop, {"a.py": "x = 1\n" * 3 + "y = 2\n" + "x = 1\n"})
    item = make_item("a.py", "x = 1\n", 4)
    assert now(check(shop, item)[0]) == (State.MOVED, "a.py:3-3")


def test_text_that_went_to_another_file_has_moved_there(shop: Path) -> None:
    item = cite(shop, "src/basket.py", 6, 13)
    make_tree(shop, {"lib/new.py": "import os\n" + item.content, "src/basket.py": "pass\n"})
    assert now(check(shop, item)[0]) == (State.MOVED, "lib/new.py:2-9")


def test_a_file_of_the_same_name_is_believed_first(shop: Path) -> None:
    item = cite(shop, "src/basket.py", 6, 13)
    make_tree(shop, {"a/copy.py": item.content, "z/basket.py": item.content, "a/quote.md": item.content})
    (shop / "src/basket.py").unlink()
    assert now(check(shop, item)[0]) == (State.MOVED, "z/basket.py:1-8")


def test_a_short_text_is_not_looked_for_in_other_files(shop: Path) -> None:
    make_tree(shop, {"a.py": "}\n", "b.py": "x = 1\n"})
    assert check(shop, make_item("b.py", "}\n"))[0].state is State.CHANGED


def test_edited_lines_have_changed_and_their_name_tells_where_they_are(shop: Path) -> None:
    item = cite(shop, "src/money.py", 4, 6, symbol="add_money")
    changed = "# one\n# two\n" + str(SHOP["src/money.py"]).replace("* RATE", "* RATE + 1")
    make_tree(shop, {"src/money.py": changed})
    (result,) = check(shop, item)
    assert now(result) == (State.CHANGED, "src/money.py:6-8") and "add_money is at" in result.detail


THREE = (
    "def first(x):\n    return x + 1\n\n\n"
    "def second(x):\n    return x + 2\n\n\n"
    "def third(x):\n    return x + 3\n"
)


@pytest.mark.parametrize(
    ("old", "new", "span"),
    [
        ("x + 1", "x + 10", (3, 12)),
        ("x + 2", "x + 20", (3, 12)),
        ("x + 3", "x + 30", (3, 12)),
        ("def first(x):", "def first(x, y):", (1, 12)),  # the comments are of its chunk
        ("def third(x):", "@cached\ndef third(x):", (3, 13)),
        ("    return x + 3\n", "    y = x\n    z = y\n    return z\n", (3, 14)),
        ("    return x + 2\n", "    y = x\n    return y\n", (3, 13)),
    ],
)
def test_an_item_of_several_chunks_keeps_them_all_when_one_changes(
    tmp_path: Path, old: str, new: str, span: tuple[int, int]
) -> None:
    root = make_tree(tmp_path, {"a.py": THREE + "\n\nother = 1\n"})
    item = cite(root, "a.py", 1, 10, symbol="second")
    make_tree(root, {"a.py": "# one\n# two\n" + THREE.replace(old, new) + "\n\nother = 1\n"})
    (result,) = check(root, item)
    assert now(result) == (State.CHANGED, f"a.py:{span[0]}-{span[1]}") and result.outside == ()


def test_one_chunk_that_grew_or_shrank_is_read_whole(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"a.py": THREE})
    item = cite(root, "a.py", 5, 6, symbol="second")
    for body, last in (("    y = x\n    return y\n    # done\n", 8), ("    pass\n", 6)):
        make_tree(root, {"a.py": THREE.replace("    return x + 2\n", body)})
        assert now(check(root, item)[0]) == (State.CHANGED, f"a.py:5-{last}")


def test_a_part_of_a_chunk_stays_a_part(tmp_path: Path) -> None:
    body = "".join(f"    step_{number} = {number}\n" for number in range(30))
    root = make_tree(tmp_path, {"a.py": f"def long():\n{body}"})
    item = cite(root, "a.py", 10, 14, symbol="long")
    make_tree(root, {"a.py": f"# new\ndef long():\n{body}".replace("= 10\n", "= 11\n")})
    assert now(check(root, item, reasons=("words", "part"))[0]) == (State.CHANGED, "a.py:11-15")


def test_lines_that_went_away_from_the_others_are_told(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"a.py": THREE})
    item = cite(root, "a.py", 1, 10, symbol="second")
    first, second, third = THREE.split("\n\n\n")
    between = "".join(f"value_{number} = {number}\n" for number in range(90))
    make_tree(root, {"a.py": f"{first}\n\n\n{second}\n\n\n{between}\n\n{third}"})
    (result,) = check(root, item)
    assert now(result) == (State.CHANGED, "a.py:5-6")
    assert {1, 2} < set(result.outside)


def test_a_file_that_is_not_there_is_gone(shop: Path) -> None:
    item = cite(shop, "src/money.py", 4, 6)
    (shop / "src/money.py").unlink()
    (result,) = check(shop, item)
    assert result.state is State.GONE and "does not exist" in result.detail


def test_lines_beyond_the_end_are_gone(shop: Path) -> None:
    item = cite(shop, "src/money.py", 4, 6)
    make_tree(shop, {"src/money.py": "RATE = 2\n"})
    (result,) = check(shop, item)
    assert result.state is State.GONE and "1 line now" in result.detail


def test_a_text_that_the_pack_shows_otherwise_has_changed(shop: Path) -> None:
    item = cite(shop, "src/money.py", 4, 6)
    (result,) = check(shop, item, shown=one_line_each(item.content).replace("sum", "max"))
    assert result.state is State.CHANGED and "shows other text" in result.detail


def test_edited_line_numbers_are_corrected_by_the_text(shop: Path) -> None:
    item = cite(shop, "src/money.py", 4, 6)
    assert now(check(shop, item, start_line=2, end_line=9)[0]) == (State.MOVED, "src/money.py:4-6")


def test_spaces_that_an_editor_took_from_line_ends_change_nothing(shop: Path) -> None:
    make_tree(shop, {"a.md": "one  \ntwo\t\n"})
    item = cite(shop, "a.md", 1, 2)
    assert check(shop, item, shown="one\ntwo")[0].state is State.TRUE


def test_without_its_text_a_citation_is_found_by_hash(shop: Path) -> None:
    item = cite(shop, "src/basket.py", 6, 13)
    make_tree(shop, {"src/basket.py": "# one\n" + str(SHOP["src/basket.py"])})
    assert now(check(shop, item, shown=None)[0]) == (State.MOVED, "src/basket.py:7-14")


def test_a_redacted_value_is_compared_as_shown(shop: Path) -> None:
    secret = "AKIA" + "Z7QX2M5K9P3R8T1V"
    make_tree(shop, {"a.py": f"key = '{secret}'\nother = 1\n"})
    source = Engine.open(shop).read("a.py")
    assert isinstance(source, Source) and secret not in source.text
    assert check(shop, make_item("a.py", source.text))[0].state is State.TRUE


def test_a_refusal_to_read_is_the_reason(shop: Path) -> None:
    def refuse(path: str) -> Source | Skipped:
        return Skipped(path, SkipReason.SENSITIVE, "not read")

    tree = CitedTree(refuse, lambda: None, one_line_each)
    (result,) = verify([citation(make_item(".env", "A=1\n"))], lambda ref: tree)
    assert (result.state, result.detail) == (State.GONE, "not read")


def test_lines_that_repeat_without_end_are_looked_through_quickly() -> None:
    new = source_of("x\n" * 300_000)
    item = make_item("a.txt", "x\n" * 100_000 + "y\n", 5)
    started = time.process_time()
    for shown in (one_line_each(item.content), "x\n" * 100_000, None):
        tree = CitedTree(new, lambda: None, one_line_each)
        assert verify([citation(item, shown=shown)], lambda ref, tree=tree: tree)[0].state is State.CHANGED
    assert time.process_time() - started < 5


LINES = st.lists(
    st.tuples(
        st.sampled_from(("a", "b", "", "}", "x = 1", "\x0c", "\u2028")), st.sampled_from(("\n", "\r\n", "\r"))
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=80, deadline=None)
@given(before=LINES, after=LINES, seed=st.integers(0, 999))
def test_a_place_of_now_always_holds_the_cited_text(
    before: list[tuple[str, str]], after: list[tuple[str, str]], seed: int
) -> None:
    old, new = (split_lines("".join(text + end for text, end in lines)) for lines in (before, after))
    start = random.Random(seed).randrange(len(old))
    end = random.Random(seed + 1).randrange(start, len(old))
    item = make_item("a.txt", "".join(old[start : end + 1]), start + 1)
    (result,) = verify(
        [citation(item)], lambda ref: CitedTree(source_of("".join(new)), lambda: None, one_line_each)
    )
    holds = [
        place for place in range(len(new)) if "".join(new[place : place + end - start + 1]) == item.content
    ]
    if result.state in (State.TRUE, State.MOVED):
        assert result.now is not None and result.now.start_line - 1 in holds
        assert (result.state is State.TRUE) == (start in holds)
    else:
        assert not holds


def source_of(text: str) -> Callable[[str], Source | Skipped]:
    return lambda path: Source(path, text, "text", "utf-8", hash_text(text), len(text))
