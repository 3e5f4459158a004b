"""How a type is read from its text."""

from __future__ import annotations

import pytest

from satchel.chunking.expressions import to_expression
from satchel.chunking.type_expressions import to_type
from satchel.languages.language import GraphRules

RULES = GraphRules(modules="packages", containers=("List",), type_prefixes=("extends ",))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("z.Type", "z.Type"),
        ("a\\b\\Item", "a.b.Item"),
        ("\\a\\Item", "\\a.Item"),
        ("global::a.Item", "\\a.Item"),
        ("List<? extends Item>", "[Item]"),
        ("?Item", "Item"),
        ("Item|null", "Item"),
        ("Item|Other", ""),
    ],
)
def test_a_type_is_named_with_dots(text: str, meant: str) -> None:
    assert to_type(text, RULES) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("((Item) other).price", "<Item>.price"),
        ("(other as? Item).price", "<Item>.price"),
        ("this@Outer.price", "Outer.this.price"),
        ('"a.b".price', "<String>.price"),
        ('"""a " b""".price', "<String>.price"),
        ("\\a\\Item::make", "\\a.Item.make"),
        ("Item::$one->price", "Item.one.price"),
        ("new Item(1) { Name = 2 }", "Item()()"),
    ],
)
def test_a_receiver_is_read_as_an_expression(text: str, meant: str) -> None:
    assert to_expression(text) == meant
