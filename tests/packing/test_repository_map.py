"""The map: most-referenced symbols first, nothing that explains nothing, inside the budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel import tokenizers
from satchel.engine import Engine
from satchel.packing.repository_map import MapSymbol, fit, map_symbol, render
from satchel.storage.memory import MemorySnapshot
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


def test_what_most_files_refer_to_comes_first(engine: Engine) -> None:
    found = engine.map(10_000, tokenizers.get())
    assert (found[0].name, found[0].files) == ("popular_helper", 8)
    files = [item.files for item in found]
    assert files == sorted(files, reverse=True) and min(files) > 0


def test_counts_are_those_of_the_edges_themselves(engine: Engine) -> None:
    snapshot = engine.snapshot()
    paths = [record.path for record in snapshot.files()]
    users: dict[tuple[str, str], set[str]] = {}
    for path, edges in zip(paths, snapshot.edges(paths), strict=True):
        for _, number, _ in edges.uses:
            target = edges.targets[number]
            if target.path != path:
                users.setdefault((target.path, target.name), set()).add(path)
    found = list(engine.central_symbols())
    assert {(item.path, item.name): item.files for item in found}.items() <= {
        key: len(using) for key, using in users.items()
    }.items()
    used_by = {item.path: item.used_by for item in engine.files() if item.used_by}
    assert used_by == {
        path: len(set().union(*(using for (defining, _), using in users.items() if defining == path)))
        for path, _ in users
    }


def test_a_map_reads_the_symbols_of_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree: dict[str, str | bytes] = {f"m{at}.py": f"def function_{at}():\n    pass\n" for at in range(300)}
    tree["user.py"] = "".join(f"from m{at} import function_{at}\nfunction_{at}()\n" for at in range(300))
    engine = memory_engine(make_tree(tmp_path, tree))
    read: list[str] = []
    symbols = MemorySnapshot.symbols
    monkeypatch.setattr(
        MemorySnapshot, "symbols", lambda self, path: (read.append(path), symbols(self, path))[1]
    )
    assert len(engine.map(200, tokenizers.get())) > 5
    assert len(read) < 100


def test_left_out_are_tests_locals_and_what_nothing_refers_to(engine: Engine) -> None:
    found = names(engine)
    assert "Basket" in found
    assert not {"test_total", "popular_helper.inner_helper", "__repr__", "ab"} & set(found)


def test_a_namesake_that_nothing_means_is_not_shown(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {
        "a.py": "def start():\n    pass\n",
        "b.py": "def start():\n    pass\n",
        "c.py": "from a import start\n\nstart()\n",
    }
    found = memory_engine(make_tree(tmp_path, tree)).map(1_000, tokenizers.get())
    assert [(item.path, item.name, item.files) for item in found] == [("a.py", "start", 1)]


def test_a_focus_brings_what_is_central_from_there(engine: Engine) -> None:
    from_basket = next(iter(engine.central_symbols(focus="src/basket.py")))
    assert from_basket.name == "add_money" != next(iter(engine.central_symbols())).name


def test_a_path_prefix_keeps_what_is_below_it(engine: Engine) -> None:
    found = list(engine.central_symbols(path_prefix="src"))
    assert found and all(item.path.startswith("src/") for item in found)
    assert list(engine.central_symbols(path_prefix="sr")) == []


@pytest.mark.parametrize("budget", [1, 5, 20, 60, 200])
def test_the_rendered_map_fits_the_budget(engine: Engine, budget: int) -> None:
    tokenizer = tokenizers.get()
    assert tokenizer.count(render(engine.map(budget, tokenizer))) <= budget


def test_one_symbol_more_would_not_fit(engine: Engine) -> None:
    tokenizer = tokenizers.get()
    everything = engine.map(100_000, tokenizer)
    chosen = engine.map(30, tokenizer)
    assert 0 < len(chosen) < len(everything) and chosen == everything[: len(chosen)]
    assert tokenizer.count(render(everything[: len(chosen) + 1])) > 30


def test_the_map_shows_files_with_their_lines_and_signatures(engine: Engine) -> None:
    text = render(engine.map(10_000, tokenizers.get()))
    assert "src/basket.py:\n" in text and "    6 class Basket" in text


def test_a_signature_that_does_not_name_its_symbol_is_replaced() -> None:
    symbol = Symbol("Basket", "Basket", ChunkKind.STRUCT, 3, 9, signature="typedef struct {")
    assert map_symbol("a.c", symbol, 2).signature == "struct Basket"


def test_nothing_fits_into_nothing() -> None:
    symbol = MapSymbol("a.py", "start", ChunkKind.FUNCTION, "def start()", 1, 0)
    assert fit([symbol], 0, len) == [] and render([]) == ""


def test_a_word_with_the_stem_of_a_name_does_not_refer_to_it(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {
        "Sources/Linter.swift": "public struct Linter {\n    let rules: Int\n}\n",
        "Sources/Runner.swift": "func run() {\n    let linter = Linter(rules: 1)\n}\n",
        "README.md": "The Linter of shops.\n",
        **{f"Sources/Rule{n}.swift": f"// SwiftLint lints, linting\nlet linted{n} = 1\n" for n in range(5)},
    }
    found = memory_engine(make_tree(tmp_path, tree)).map(10_000, tokenizers.get())
    assert [(item.name, item.files) for item in found if item.name == "Linter"] == [("Linter", 1)]
