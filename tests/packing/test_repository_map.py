"""The map: most-referenced symbols first, nothing that explains nothing, inside the budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel import tokenizers
from satchel.engine import Engine
from satchel.packing.repository_map import MapSymbol, fit, rank, render
from satchel.storage.records import SymbolRecord
from satchel.types import ChunkKind, Symbol

TREE: dict[str, str | bytes] = {
    **SHOP,
    "src/used.py": "def popular_helper():\n    def inner_helper():\n        pass\n\n\ndef __repr__():\n    pass\n\n\ndef ab():\n    pass\n",
    **{
        f"src/user_{number}.py": "from src.used import popular_helper\n\npopular_helper()\n"
        for number in range(8)
    },
}


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return memory_engine(make_tree(tmp_path, TREE))


def names(engine: Engine, budget: int = 10_000) -> list[str]:
    return [item.name for item in engine.map(budget, tokenizers.get())]


def test_the_most_mentioned_symbol_comes_first(engine: Engine) -> None:
    found = engine.map(10_000, tokenizers.get())
    assert found[0].name == "popular_helper" and found[0].mentions >= 8
    mentions = [item.mentions for item in found]
    assert mentions == sorted(mentions, reverse=True)


def test_left_out_are_tests_locals_short_names_and_names_of_the_language(engine: Engine) -> None:
    found = names(engine)
    assert "Basket" in found and "OpenTill" in found
    assert not {"test_total", "popular_helper.inner_helper", "__repr__", "ab"} & set(found)


@pytest.mark.parametrize("budget", [1, 5, 20, 60, 200])
def test_the_rendered_map_fits_the_budget(engine: Engine, budget: int) -> None:
    tokenizer = tokenizers.get()
    assert tokenizer.count(render(engine.map(budget, tokenizer))) <= budget


def test_one_symbol_more_would_not_fit(engine: Engine) -> None:
    tokenizer = tokenizers.get()
    everything = engine.map(100_000, tokenizer)
    chosen = engine.map(40, tokenizer)
    assert 0 < len(chosen) < len(everything) and chosen == everything[: len(chosen)]
    assert tokenizer.count(render(everything[: len(chosen) + 1])) > 40


def test_the_map_shows_files_with_their_lines_and_signatures(engine: Engine) -> None:
    text = render(engine.map(10_000, tokenizers.get()))
    assert "src/basket.py:\n" in text and "    6 class Basket" in text


def test_mentions_are_shared_among_definitions_of_a_name() -> None:
    def record(path: str) -> SymbolRecord:
        return SymbolRecord(path, Symbol("start", "start", ChunkKind.FUNCTION, 1, 2))

    ranked = rank([record("b.py"), record("a.py")], lambda name: 10, lambda path: False)
    assert [(item.path, item.mentions) for item in ranked] == [("a.py", 4), ("b.py", 4)]


def test_a_file_aside_gives_no_symbols() -> None:
    record = SymbolRecord("tests/a.py", Symbol("start", "start", ChunkKind.FUNCTION, 1, 2))
    assert rank([record], lambda name: 1, lambda path: path.startswith("tests/")) == []


def test_nothing_fits_into_nothing() -> None:
    symbol = MapSymbol("a.py", "start", ChunkKind.FUNCTION, "def start()", 1, 0)
    assert fit([symbol], 0, len) == [] and render([]) == ""
