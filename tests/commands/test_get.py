"""`get`: several ids at once, widened, merged, counted, and true to the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import SHOP, make_engine, make_tree, memory_engine

from satchel import ids, tokenizers
from satchel.commands.get import GetRequest, GetResponse, GotChunk, run
from satchel.engine import Engine
from satchel.errors import ChunkNotFound, Unsupported
from satchel.packing.excerpts import Mode, StopReason
from satchel.rendering import agent_text
from satchel.rendering.style import Style
from satchel.rendering.terminal import render
from satchel.storage.memory import MemorySnapshot

BIG = "# big\nclass Big:\n" + "".join(
    f"\n    @cache\n    def m{n}(\n        self,\n    ):\n        {'x = 1; ' * 30}\n" for n in range(9)
)


@pytest.fixture
def shop(tmp_path: Path) -> Engine:
    return memory_engine(make_tree(tmp_path, {**SHOP, "big.py": BIG, "a,b.md": "# Odd\n\ncomma\n"}))


def canonical(engine: Engine, path: str, place: int) -> str:
    chunk = engine.snapshot().chunks(path)[place]
    return ids.canonical_id(ids.doc_of(path), chunk.digest)


def one(answer: GetResponse) -> GotChunk:
    (chunk,) = answer.chunks
    return chunk


def test_lines_that_are_no_chunk_have_an_id_that_can_be_asked_for_again(shop: Engine) -> None:
    first = one(run(shop, GetRequest(ids=("src/basket.py#L9-L10",))))
    again = one(run(shop, GetRequest(ids=(first.id,))))
    assert first.id == "src/basket.py:9:10" and (again.text, again.content_hash) == (
        first.text,
        first.content_hash,
    )
    assert one(run(shop, GetRequest(ids=(first.chunk_id,)))).name == "Basket"


def test_nothing_of_what_was_asked_for_is_a_typed_error(shop: Engine) -> None:
    with pytest.raises(ChunkNotFound, match=r"near it are src/basket.py") as raised:
        run(shop, GetRequest(ids=("src/baskets.py:1:2", "nope:0123456789")))
    missing = raised.value.details["missing"]
    assert [item["asked"] for item in missing] == ["src/baskets.py:1:2", "nope:0123456789"]


def test_ids_whose_file_is_gone_are_a_typed_error(shop: Engine) -> None:
    asked = canonical(shop, "big.py", 1)
    (shop.root / "big.py").unlink()
    shop.refresh()
    with pytest.raises(ChunkNotFound, match=r"gone, big.py is no longer in the index"):
        run(shop, GetRequest(ids=(asked,)))


def test_what_is_missing_is_listed_beside_what_is_shown(shop: Engine) -> None:
    answer = run(shop, GetRequest(ids=("nope:0123456789", "README.md:1:1")))
    assert len(answer.chunks) == 1 and [item.asked for item in answer.missing] == ["nope:0123456789"]


def test_texts_show_the_source_of_a_cell_and_the_data_the_lines_of_the_file(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": ["noise"], "source": ["x = 1\n", "plot(x)"]}]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1)
    answer = run(memory_engine(make_tree(tmp_path, {"a.ipynb": text})), GetRequest(ids=("a.ipynb",)))
    assert one(answer).text == text and one(answer).content_hash == ids.hash_text(text)
    for shown in (render(answer, Style(colour=False)), agent_text.render(answer)):
        assert "x = 1\nplot(x)\n" in shown and "noise" not in shown and "JSON" in shown


def test_neighbours_make_one_span_that_still_names_the_chunk(shop: Engine) -> None:
    plain = one(run(shop, GetRequest(ids=(canonical(shop, "big.py", 3),))))
    wide = one(run(shop, GetRequest(ids=(plain.id,), around=1)))
    lines = BIG.splitlines(True)
    assert wide.id == f"big.py:{wide.start_line}:{wide.end_line}" and wide.chunk_id == plain.chunk_id
    assert wide.text == "".join(lines[wide.start_line - 1 : wide.end_line]) and plain.text in wide.text
    assert wide.content_hash == ids.hash_text(wide.text) and wide.text.count("def m") == 3


def test_widened_lines_that_overlap_are_given_once(shop: Engine) -> None:
    asked = (canonical(shop, "big.py", 1), canonical(shop, "big.py", 8), canonical(shop, "big.py", 2))
    first, second = run(shop, GetRequest(ids=asked, around=1)).chunks
    assert (first.asked, first.also_asked, second.asked) == (asked[0], (asked[2],), asked[1])
    assert first.text.count("def m") == 3 and second.also_asked == ()


def test_without_widening_every_id_has_its_own_answer(shop: Engine) -> None:
    asked = ("src/money.py:1:2", "src/money.py:1:2", "src/money.py:2:3")
    assert [chunk.asked for chunk in run(shop, GetRequest(ids=asked)).chunks] == list(asked)


def test_the_enclosing_definition_is_named(shop: Engine) -> None:
    chunk = one(run(shop, GetRequest(ids=("src/basket.py:10",), enclosing=True)))
    assert (chunk.symbol, chunk.name, chunk.kind) == ("Basket.add_item", "Basket.add_item", "method")
    assert chunk.text == "    def add_item(self, item):\n        self.items.append(item)\n"
    assert chunk.chunk_id == ids.long_id(shop.snapshot().chunks("src/basket.py")[1].digest)


def test_lines_of_one_definition_are_answered_by_it_once(shop: Engine) -> None:
    chunk = one(run(shop, GetRequest(ids=("big.py:6", "big.py:9", "big.py:1:2"), enclosing=True)))
    assert (chunk.symbol, chunk.asked, chunk.also_asked) == ("Big", "big.py:6", ("big.py:9", "big.py:1:2"))
    assert chunk.text == BIG


def test_the_enclosing_section_is_named_as_search_names_it(shop: Engine) -> None:
    section = one(run(shop, GetRequest(ids=("README.md:7",), enclosing=True)))
    assert section.symbol == section.name == "Shop > Setup"
    assert section.name == one(run(shop, GetRequest(ids=(section.id,)))).name


def test_at_module_level_the_chunk_itself_is_given(shop: Engine) -> None:
    chunk = one(run(shop, GetRequest(ids=("src/basket.py:3",), enclosing=True)))
    assert chunk.id == canonical(shop, "src/basket.py", 0) and chunk.symbol == ""


def test_the_skeleton_of_a_long_type_shows_its_members(shop: Engine) -> None:
    chunk = one(run(shop, GetRequest(ids=(canonical(shop, "big.py", 0),), mode=Mode.SKELETON)))
    members = [f"    def m{n}(\n        self,\n    ):\n" for n in range(9)]
    assert chunk.text == "class Big:\n" + "".join(members)
    assert (chunk.start_line, chunk.end_line) == (1, 56) and chunk.content_hash == ids.hash_text(BIG)


def test_the_skeleton_of_a_member_is_its_own(shop: Engine) -> None:
    chunk = one(run(shop, GetRequest(ids=(canonical(shop, "big.py", 2),), mode=Mode.SKELETON)))
    assert chunk.text == "    def m1(\n        self,\n    ):\n"


def test_a_long_file_is_given_as_a_skeleton(tmp_path: Path) -> None:
    text = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(600))
    engine = memory_engine(make_tree(tmp_path, {"long.py": text}))
    assert run(engine, GetRequest(ids=("long.py",))).missing[0].fate == "too_long"
    assert one(run(engine, GetRequest(ids=("long.py",), mode=Mode.SKELETON))).text.count("def f") == 600


def test_a_comma_in_a_path_does_not_separate(shop: Engine) -> None:
    answer = run(shop, GetRequest(ids=("a,b.md:1:1,README.md:1:1,a,b.md",)))
    assert [(chunk.path, chunk.end_line) for chunk in answer.chunks] == [
        ("a,b.md", 1),
        ("README.md", 1),
        ("a,b.md", 3),
    ]


def test_a_budget_in_which_nothing_fits_names_the_least_that_works(shop: Engine) -> None:
    asked = ("src/money.py", "src/basket.py:6:13")
    answer = run(shop, GetRequest(ids=asked, budget=1))
    assert (answer.chunks, answer.stop_reason, len(answer.left_out)) == ([], StopReason.BUDGET, 2)
    assert len(run(shop, GetRequest(ids=asked, budget=answer.min_tokens)).chunks) == 1
    assert run(shop, GetRequest(ids=asked, budget=answer.min_tokens - 1)).chunks == []


@pytest.mark.parametrize("tokenizer", ["chars4", "o200k", "claude"])
def test_every_tokenizer_keeps_its_budget_and_states_its_headroom(shop: Engine, tokenizer: str) -> None:
    chosen = tokenizers.get(tokenizer)
    asked = ("src/money.py", "src/basket.py", "README.md", "src/till.go")
    answer = run(shop, GetRequest(ids=asked, budget=100, tokenizer=tokenizer))
    assert chosen.count("".join(chunk.text for chunk in answer.chunks)) == answer.used_tokens
    assert 0 < answer.used_tokens <= 100 - answer.headroom_tokens and answer.left_out
    assert (answer.headroom_tokens == 0) == (chosen.headroom == 0)
    least = run(shop, GetRequest(ids=asked, budget=2, tokenizer=tokenizer)).min_tokens
    found = [
        len(run(shop, GetRequest(ids=asked, budget=budget, tokenizer=tokenizer)).chunks)
        for budget in (least - 1, least)
    ]
    assert found == [0, 1]


def test_an_unknown_tokenizer_is_a_typed_error(shop: Engine) -> None:
    with pytest.raises(Unsupported):
        run(shop, GetRequest(ids=("README.md",), tokenizer="abacus"))


def test_each_file_is_read_once_for_all_ids(shop: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    text = MemorySnapshot.text

    def counted(snapshot: MemorySnapshot, path: str) -> str:
        read.append(path)
        return text(snapshot, path)

    monkeypatch.setattr(MemorySnapshot, "text", counted)
    asked = tuple(f"{path}:{line}" for path in ("README.md", "big.py") for line in range(1, 8))
    assert len(run(shop, GetRequest(ids=asked)).chunks) == 14 and sorted(read) == ["README.md", "big.py"]


def test_a_stale_id_can_be_widened_to_what_it_became(tmp_path: Path) -> None:
    engine = make_engine(make_tree(tmp_path, SHOP))
    engine.refresh()
    old = canonical(engine, "src/basket.py", 1)
    (tmp_path / "src/basket.py").rename(tmp_path / "src/trolley.py")
    engine.refresh()
    chunk = one(run(engine, GetRequest(ids=(old, "src/basket.py:13"), around=5)))
    assert (chunk.path, chunk.fate, chunk.start_line) == ("src/trolley.py", "moved", 1)
    assert chunk.detail == "src/basket.py is now src/trolley.py" and chunk.also_asked == ("src/basket.py:13",)


def test_the_terminal_says_what_was_merged_what_encloses_and_what_would_fit(shop: Engine) -> None:
    shown = render(run(shop, GetRequest(ids=("big.py:6", "big.py:7"), enclosing=True)), Style(colour=False))
    assert "Big.m0" in shown.split("\n")[0] and "also answers big.py:7" in shown
    nothing = render(run(shop, GetRequest(ids=("src/money.py",), budget=1)), Style(colour=False))
    assert "src/money.py:1:6: left out, the budget is used up" in nothing and "--budget 25" in nothing
    enough = run(shop, GetRequest(ids=("README.md:1", "README.md:2"), max_chunks=1))
    assert "README.md:2:2: left out, these are chunks enough" in render(enough, Style(colour=False))
