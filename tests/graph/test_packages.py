"""Packages after an edit: the edges are those of a fresh index, whichever file changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine

from satchel.code_facts import FileEdges

BEFORE = {
    "src/shop/Basket.java": "package shop;\n\nclass Basket extends Holder {\n  void add(Item item) {\n"
    "    item.price();\n    touch();\n  }\n}\n",
    "src/shop/Holder.java": "package shop;\n\nclass Holder {\n  void touch() {}\n}\n",
    "src/shop/Item.java": "package shop;\n\nclass Item {\n  void price() {}\n}\n",
    "src/till/Till.kt": "package till\n\nimport shop.*\n\nclass Till {\n  fun pay(item: Item) {\n"
    "    item.price()\n  }\n}\n",
    "lib/Money.cs": "namespace Shop;\n\npublic partial class Money { public void Plus() => Minus(); }\n",
    "lib/Shop.csproj": "<Project />\n",
    "lib/Bank/Till.cs": "namespace Bank;\n\npublic class Till { void Pay(Money money) => money.Plus(); }\n",
}


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"src/shop/Item.java": "package goods;\n\npublic class Item {}\n"}, id="moved"),
        pytest.param(
            {"src/till/Item.kt": "package till\n\nclass Item {\n  fun price() {}\n}\n"}, id="nearer"
        ),
        pytest.param({"src/shop/Item.java": None}, id="gone"),
        pytest.param({"src/shop/Holder.java": "package shop;\n\nclass Holder extends Item {}\n"}, id="base"),
        pytest.param(
            {"lib/Rest.cs": "namespace Shop;\n\npartial class Money { void Minus() {} }\n"}, id="part"
        ),
        pytest.param({"lib/Shop.csproj": '<Project><Using Include="Shop" /></Project>\n'}, id="project"),
    ],
)
def test_an_edit_leads_to_the_edges_of_a_fresh_index(tmp_path: Path, edit: dict[str, str | None]) -> None:
    root = make_tree(tmp_path / "edited", BEFORE)
    engine = memory_engine(root)
    before = _edges(engine, BEFORE)
    after = {path: text for path, text in (BEFORE | edit).items() if text is not None}
    for path, text in edit.items():
        if text is None:
            (root / path).unlink()
        else:
            make_tree(root, {path: text})
    engine.refresh()
    fresh = memory_engine(make_tree(tmp_path / "fresh", after))
    assert _edges(engine, after) == _edges(fresh, after)
    assert _edges(engine, after) != before


def _edges(engine: object, files: dict[str, str]) -> dict[str, FileEdges]:
    snapshot = engine.snapshot()  # type: ignore[attr-defined]
    paths = [path for path in files if snapshot.file(path) is not None]
    return dict(zip(paths, snapshot.edges(paths), strict=True))
