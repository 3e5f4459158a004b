"""References: who uses a name, and which definition is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel.commands import impact, refs
from satchel.engine import Engine
from satchel.errors import SymbolNotFound
from satchel.rendering import agent_text
from satchel.retrieval.dependencies import used_definitions
from satchel.retrieval.references import find_uses_made
from satchel.retrieval.related import find_related
from satchel.terms import last_name
from satchel.types import Label, RelatedMode

TREE: dict[str, str | bytes] = {
    **SHOP,
    "src/special.py": "from src.basket import Basket\n\n\nclass Special(Basket):\n    pass\n",
    "other/money.py": "def add_money(amounts):\n    return 1\n",
    "web/app.js": "import { start } from './router.js';\n\nstart();\n",
    "web/router.js": "export function start() {\n  return 1;\n}\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Engine:
    return memory_engine(make_tree(tmp_path, TREE))


def uses(engine: Engine, name: str, *labels: Label) -> list[tuple[str, int, str]]:
    return [(item.path, item.line, item.label.value) for item in engine.references(name, labels)]


def test_calls_imports_and_inheritance_are_found_with_their_lines(shop: Engine) -> None:
    assert ("src/basket.py", 13, "calls") in uses(shop, "add_money")
    assert ("src/special.py", 4, "extends") in uses(shop, "Basket")
    assert ("tests/test_basket.py", 1, "imports") in uses(shop, "Basket")


def test_labels_narrow(shop: Engine) -> None:
    assert uses(shop, "Basket", Label.EXTENDS) == [("src/special.py", 4, "extends")]
    assert {label for _, _, label in uses(shop, "Basket", Label.CALLS)} == {"calls"}


def test_uses_by_tests_can_be_asked_for(shop: Engine) -> None:
    found = shop.references("Basket", [Label.TESTED_BY])
    assert {item.path for item in found} == {"tests/test_basket.py"} and all(item.in_test for item in found)


def test_an_imported_definition_is_preferred_over_another_of_the_name(shop: Engine) -> None:
    found = [item for item in shop.references("add_money") if item.path == "src/basket.py"]
    assert {item.target for item in found} == {"src/money.py:4:6"}
    assert all(item.confidence > 0.9 for item in found)


def test_an_import_written_as_a_path_resolves_to_its_file(shop: Engine) -> None:
    found = [item for item in shop.references("start") if item.label is Label.CALLS]
    assert [(item.path, item.line, item.target) for item in found] == [("web/app.js", 3, "web/router.js:1:3")]


def test_a_qualified_name_narrows_the_definitions(shop: Engine) -> None:
    found = shop.references("Basket.total_price")
    assert found and {item.target_name for item in found} == {"Basket.total_price"}


def test_a_name_without_a_definition_has_no_target(shop: Engine) -> None:
    found = shop.references("Println")
    assert found and all((item.target, item.confidence) == ("", 0.0) for item in found)


def test_a_name_used_nowhere_gives_nothing(shop: Engine) -> None:
    assert shop.references("no_such_name") == [] == shop.references("") == shop.references("::")


def test_uses_come_by_path_and_line(shop: Engine) -> None:
    found = uses(shop, "Basket")
    assert found == sorted(found, key=lambda item: item[:2]) and len(found) > 3


def test_a_confidence_is_a_share_of_one(shop: Engine) -> None:
    names = {item.symbol.name for item in shop.snapshot().all_symbols()}
    for name in names:
        assert all(0.0 <= item.confidence <= 1.0 for item in shop.references(name))


def test_names_in_scripts_without_word_spaces_are_found(tmp_path: Path) -> None:
    text = "def 解析数据():\n    pass\n\n\n解析数据()\n"
    engine = memory_engine(make_tree(tmp_path, {"a.py": text}))
    assert uses(engine, "解析数据", Label.CALLS) == [("a.py", 5, "calls")]


@pytest.mark.parametrize("name", ["größe_ändern", "x", "_private", "__dunder__", "HTTPServer2", "a1b2"])
def test_names_of_all_spellings_are_found(tmp_path: Path, name: str) -> None:
    engine = memory_engine(make_tree(tmp_path, {"a.py": f"def {name}():\n    pass\n\n\n{name}()\n"}))
    assert uses(engine, name, Label.CALLS) == [("a.py", 5, "calls")]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("django.db.models", "models"),
        ("./router.js", "router"),
        ("a::b", "b"),
        ("stdio.h", "stdio"),
        ("x", "x"),
    ],
)
def test_the_name_that_a_written_reference_ends_in(written: str, name: str) -> None:
    assert last_name(written) == name


def test_a_language_without_rules_is_named_and_no_share_is_claimed(tmp_path: Path) -> None:
    files = {"pay.lua": "function pay(basket)\n  return basket\nend\n", "shop.lua": "pay({})\n"}
    engine = memory_engine(make_tree(tmp_path, files))
    found = refs.run(engine, refs.RefsRequest(name="pay"))
    assert found.matched_by_name == ["lua"]
    assert [(use.path, use.sure, use.confidence) for use in found.references] == [("shop.lua", False, 0.0)]
    assert "no rules for lua: uses are matched by name" in agent_text.render(found)
    assert impact.run(engine, impact.ImpactRequest(name="pay")).matched_by_name == ["lua"]


SHAPES: dict[str, str | bytes] = {
    "shapes.ts": (
        "export interface Shape {\n  area: number;\n}\n\n"
        "export const Shape = make((sides: number[]) => {\n  return { area: sides[0] * sides[1] };\n});\n"
    ),
    "draw.ts": (
        'import { Shape } from "./shapes";\n\n'
        "export function build(sides: number[]) {\n  return Shape(sides);\n}\n\n"
        "export function show(shape: Shape) {\n  return shape;\n}\n"
    ),
}


@pytest.mark.parametrize(("user", "meant", "other"), [("build", 5, 1), ("show", 1, 5)])
def test_a_use_means_the_type_or_the_value_of_a_shared_name(
    tmp_path: Path, user: str, meant: int, other: int
) -> None:
    corpus = memory_engine(make_tree(tmp_path, SHAPES)).corpus()
    made = [item.target.split(":")[1] for item in find_uses_made(corpus, user)]
    assert made == [str(meant)]
    lines = {"build": (3, 5), "show": (7, 9)}[user]
    assert [edge.line for edge in used_definitions(corpus, "draw.ts", [lines])] == [meant]
    around = find_related(
        corpus, [("draw.ts", *lines)], set(), hops=1, mode=RelatedMode.EXPLORE, per_primary=9
    )
    assert [item.chunk.start_line for item in around if item.chunk.path == "shapes.ts"] == [meant]
    shape = [("shapes.ts", other, other)]
    users = find_related(corpus, shape, set(), hops=1, mode=RelatedMode.EXPLORE, per_primary=9)
    assert user not in {item.chunk.title_path[-1] for item in users}


OUTSIDE: dict[str, str | bytes] = {
    "a.py": "import json\nimport numpy as np\nfrom json import loads as read\n\n\nread('1')\njson.loads('2')\nnp.array([])\n",
    "b.py": "class Bank:\n    def loads(self):\n        pass\n\n\nBank().loads()\n",
    "c.go": 'package c\n\nimport "net/http"\n\nfunc Ask(r *http.Request) {\n\tr.Context()\n\thttp.NewRequest()\n}\n',
    "D.cs": "using System.IO;\n\nclass D {\n    string Join(string a) {\n        return Path.Combine(a, a);\n    }\n}\n",
}


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("json.loads", [("a.py", 3), ("a.py", 6), ("a.py", 7)]),
        ("numpy.array", [("a.py", 8)]),
        ("net/http.NewRequest", [("c.go", 7)]),
        ("http.Request.Context", [("c.go", 6)]),
        ("Path.Combine", [("D.cs", 5)]),
        ("Other.loads", []),
    ],
)
def test_a_qualified_name_from_outside_has_the_uses_that_are_written_so(
    tmp_path: Path, name: str, places: list[tuple[str, int]]
) -> None:
    engine = memory_engine(make_tree(tmp_path, OUTSIDE))
    assert [(item.path, item.line) for item in engine.references(name, possible=True)] == places


def test_refs_say_that_nothing_here_defines_a_name(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, OUTSIDE))
    text = agent_text.render(refs.run(engine, refs.RefsRequest(name="json.loads")))
    assert "nothing here defines it; these uses are written so" in text
    with pytest.raises(SymbolNotFound):
        refs.run(engine, refs.RefsRequest(name="Other.loads"))
