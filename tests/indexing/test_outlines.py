"""Outlines: what a file defines, what it uses of others, and how it introduces itself."""

from __future__ import annotations

import pytest

from satchel.chunking import parse_source
from satchel.indexing.analysis import outline
from satchel.lines import split_lines
from satchel.storage.records import Outline
from satchel.terms import terms

CODE = '''\
"""Baskets of a customer."""

from shop.money import add_money

LIMIT = 3


class Basket(BaseStore):
    def total_price(self):
        again = Basket()
        return add_money(self.items, len(again), RoundingRule.cents())


def empty_basket():
    return Basket()
'''


def of(text: str, language: str = "python") -> Outline:
    return outline(parse_source(text, language), split_lines(text))


def test_types_and_other_definitions_are_kept_apart() -> None:
    found = of(CODE)
    assert found.types == ("Basket",)
    assert {"total_price", "empty_basket"} <= set(found.others) and "Basket" not in found.others


def test_uses_are_telling_names_of_others() -> None:
    found = of(CODE)
    assert {"add_money", "BaseStore"} <= set(found.uses)
    assert not {"Basket", "total_price", "len", "items"} & set(found.uses)


def test_imports_are_as_written() -> None:
    assert of(CODE).imports == ("shop.money.add_money",)


def test_nothing_is_named_twice() -> None:
    found = of(CODE + CODE.replace("Basket(BaseStore)", "Other(BaseStore)"))
    for names in (found.types, found.others, found.uses, found.imports, found.head):
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ('"""Counts the gadgets."""\n\nx = 1\n', "python"),
        ("'''Counts\nthe gadgets.\n'''\nx = 1\n", "python"),
        ('#!/usr/bin/env python\n# a licence\n"""Counts the gadgets."""\nx = 1\n', "python"),
        ("# Counts the gadgets.\nx = 1\n", "python"),
        ("// Counts the gadgets.\npackage till\n", "go"),
        ("/* Counts\n * the gadgets. */\nint x;\n", "c"),
    ],
)
def test_the_comment_that_opens_a_file_is_its_head(text: str, language: str) -> None:
    assert set(terms("Counts gadgets")) <= set(of(text, language).head)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * 60 + "# Counts the gadgets.\n",
        'x = 1\n"""Counts the gadgets."""\n',
        "# " + "word " * 200 + "gadgets\n",
        'x = "gadgets"\n',
    ],
)
def test_what_stands_later_is_no_head(text: str) -> None:
    assert not set(terms("gadgets")) & set(of(text).head)


def test_links_of_a_document_are_no_uses() -> None:
    found = of("# Guide\n\nSee [setup](../SetupGuide.md#FirstSteps).\n", "markdown")
    assert found.uses == () == found.imports


def test_an_empty_file_has_an_empty_outline() -> None:
    assert of("") == Outline()
