"""After any edit the edges are those of a fresh index, whatever was resolved before."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any

import pytest
from builders import make_tree, memory_engine
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.engine import Engine
from satchel.errors import Cancelled
from satchel.graph import update
from satchel.graph.interfaces import Interface
from satchel.graph.resolver import Resolver
from satchel.graph.update import GraphUpdate
from satchel.storage.memory import MemorySnapshot
from satchel.storage.sqlite_reader import SqliteSnapshot
from satchel.storage.sqlite_writer import SqliteWriter

MODULES = {
    "pkg/a.py": (
        "class A:\n    def run(self):\n        pass\n",
        "from pkg.b import B\n\n\nclass A(B):\n    pass\n",
        "class A:\n    def stop(self):\n        pass\n\n\ndef make() -> A:\n    return A()\n",
        "",
    ),
    "pkg/b.py": (
        "class B:\n    def run(self):\n        pass\n",
        "from .a import A as B\n",
        "def run():\n    pass\n",
    ),
    "pkg/__init__.py": ("", "from .a import A\n", "from .b import *\n"),
    "use.py": (
        "from pkg import A\n\nA().run()\n",
        "from pkg.a import make\n\nmake().stop()\nmake().run()\n",
        "import pkg.b\n\npkg.b.run()\npkg.b.B().run()\n",
    ),
    "web/app.ts": (
        "import { start } from './lib';\n\nstart();\n",
        "import * as lib from './lib';\n\nnew lib.Server().listen();\n",
    ),
    "web/lib.ts": (
        "export function start() {}\n",
        "export { start } from './lib/index';\nexport class Server { listen() {} }\n",
    ),
    "web/lib/index.ts": ("export function start() {}\n", "export class Server { listen() {} }\n"),
    "go.mod": ("module example.com/shop\n", "module example.com/store\n"),
    "main.go": (
        'package main\n\nimport "example.com/shop/cart"\n\nfunc main() { cart.New().Add() }\n',
        "package main\n\nfunc main() { helper() }\n",
    ),
    "help.go": ("package main\n\nfunc helper() {}\n", "package main\n\nfunc other() {}\n"),
    "cart/cart.go": (
        "package cart\n\ntype Cart struct{}\n\nfunc New() *Cart { return &Cart{} }\n\nfunc (c *Cart) Add() {}\n",
        "package cart\n\nfunc New() int { return 1 }\n",
    ),
    "list.c": (
        '#include "list.h"\n\nint size(void) { return count(); }\n',
        "static int count(void) { return 1; }\n",
    ),
    "count.c": ("int count(void) { return 2; }\n", "static int count(void) { return 3; }\n"),
    "list.h": ("int count(void);\n", "struct list { int size; };\n"),
    "cart.hpp": (
        '#include "base.hpp"\nnamespace shop { class Cart : public Base { Item item_; public: void add(); }; }\n',
        "namespace shop { class Cart { public: int size(); Cart* add(); }; }\n",
    ),
    "base.hpp": (
        "namespace shop { struct Item { void pay() {} }; class Base { public: void count(); }; }\n",
        '#include "item.hpp"\nnamespace shop { using Thing = Item; struct Base { Thing count(); }; }\n',
    ),
    "item.hpp": ("struct Item {};\n", "namespace shop { struct Item { void pay() {} int size(); }; }\n"),
    "cart.cpp": (
        '#include "cart.hpp"\nnamespace shop { void Cart::add() { count(); item_.pay(); } }\n',
        '#include "cart.hpp"\nusing namespace shop;\nint main() { Cart c; c.add()->size(); Item().pay(); }\n',
        "namespace shop { void Base::count() {} int size() { return 1; } int go() { return size(); } }\n",
    ),
    "Cargo.toml": ('[package]\nname = "shop"\n', '[package]\nname = "store"\n'),
    "src/lib.rs": (
        "#[macro_use]\nmod macros;\nmod till;\n",
        "mod macros;\nmod till;\npub struct Till;\n",
        "pub mod till;\nuse till::Till;\n",
    ),
    "src/main.rs": ("mod till;\nfn main() { till::open(); }\n", "use shop::till::Till;\n"),
    "src/macros.rs": ("macro_rules! ring { () => {} }\n", ""),
    "src/till.rs": (
        "pub fn open() { ring!(); crate::till::coin::drop_in(); }\n",
        "pub struct Till;\nfn go(till: Till) { till.close(); super::Till; }\n",
    ),
    "src/till/mod.rs": ("pub fn open() {}\n",),
    "src/till/coin.rs": (
        "pub fn drop_in() { super::open(); ring!(); }\n",
        "use super::Till;\nimpl Till { pub fn close(&self) {} }\n",
    ),
    "lib/shop.rb": (
        "require 'shop/basket'\nmodule Shop\n  Basket.new.total\nend\n",
        "module Shop\n  class Basket\n    def clear\n      total\n    end\n  end\nend\n",
    ),
    "lib/shop/basket.rb": (
        "module Shop\n  class Basket < Base\n    def total\n      size\n    end\n  end\nend\n",
        "class Basket\n  def total\n  end\nend\n",
    ),
    "lib/shop/base.rb": (
        "module Shop\n  class Base\n    def size\n    end\n  end\nend\n",
        "class Base\n  def size\n  end\nend\n",
    ),
    "java/Cart.java": (
        "package shop;\nclass Cart extends Base { void add() { count(); Item.make(); } }\n",
        "package store;\nimport shop.*;\nclass Cart { void add(Item item) { item.price(); } }\n",
    ),
    "java/Item.java": (
        "package shop;\npublic class Item { static void make() {} void price() {} }\n",
        "package store;\nclass Item {}\n",
    ),
    "java/Base.java": ("package shop;\nclass Base { void count() {} }\n", "class Base {}\n"),
}
EDIT = st.sampled_from(
    [(path, text) for path, texts in MODULES.items() for text in (*texts, None)]  # None: the file is removed
)


def edges(engine: Engine) -> dict[str, Any]:
    snapshot = engine.snapshot()
    paths = [record.path for record in snapshot.files()]
    return dict(zip(paths, snapshot.edges(paths), strict=True))


def write(root: Path, path: str, text: str | None) -> None:
    if text is None:
        (root / path).unlink(missing_ok=True)
    else:
        make_tree(root, {path: text})


@settings(max_examples=15, deadline=None)
@given(st.lists(EDIT, max_size=6), st.lists(EDIT, min_size=1, max_size=8))
def test_edges_after_edits_are_those_of_a_fresh_index(
    before: list[tuple[str, str | None]], edits: list[tuple[str, str | None]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_tree(root, {path: texts[0] for path, texts in MODULES.items()})
        for path, text in before:
            write(root, path, text)
        engine = memory_engine(root)
        for path, text in edits:
            write(root, path, text)
            engine.refresh()
        assert edges(engine) == edges(memory_engine(root))


def test_an_edit_inside_a_function_resolves_that_file_alone(tmp_path: Path, monkeypatch: Any) -> None:
    counts: list[int] = []
    resolve = GraphUpdate.resolve

    def counted(self: GraphUpdate, *arguments: Any, **options: Any) -> int:
        counts.append(resolve(self, *arguments, **options))
        return counts[-1]

    monkeypatch.setattr(GraphUpdate, "resolve", counted)
    users = {f"user_{number}.py": "from pkg.a import A\n\nA().run()\n" for number in range(20)}
    files = {**users, "pkg/__init__.py": "", "pkg/a.py": MODULES["pkg/a.py"][0]}
    engine = memory_engine(make_tree(tmp_path, files))
    make_tree(tmp_path, {"pkg/a.py": files["pkg/a.py"].replace("pass", "return 1")})
    engine.refresh()
    # Nobody asked for a name that is new.
    make_tree(tmp_path, {"pkg/a.py": files["pkg/a.py"] + "\n\ndef added():\n    pass\n"})
    engine.refresh()
    make_tree(tmp_path, {"pkg/a.py": files["pkg/a.py"].replace("run", "walk")})
    engine.refresh()
    assert counts == [22, 1, 1, 21]


def test_a_name_that_was_missing_leads_to_the_files_that_asked_for_it(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/a.py": "", "use.py": "from pkg.a import added\n\nadded()\n"}
    engine = memory_engine(make_tree(tmp_path, files))
    make_tree(tmp_path, {"pkg/a.py": "def added():\n    pass\n"})
    engine.refresh()
    assert "added" in {target.name for target in edges(engine)["use.py"].targets}


def test_edges_are_the_same_whether_parsed_files_are_kept_or_read_from_the_store(
    tmp_path: Path, monkeypatch: Any
) -> None:
    make_tree(tmp_path, {path: texts[0] for path, texts in MODULES.items()})
    kept = edges(memory_engine(tmp_path))
    assert any(found.uses for found in kept.values())
    monkeypatch.setattr(GraphUpdate, "keep", lambda *arguments: None)
    assert edges(memory_engine(tmp_path)) == kept
    # A limit that two files exceed: some are kept, some are read.
    monkeypatch.undo()
    monkeypatch.setattr(update, "_PARSED_KEPT", 2_000)
    assert edges(memory_engine(tmp_path)) == kept


def test_a_first_index_reads_no_facts_from_the_store(tmp_path: Path, monkeypatch: Any) -> None:
    def unwanted(*arguments: Any) -> Any:
        raise AssertionError("read from the store")

    monkeypatch.setattr(MemorySnapshot, "facts", unwanted)
    make_tree(tmp_path, {path: texts[0] for path, texts in MODULES.items()})
    memory_engine(tmp_path)


def test_the_search_for_cycles_is_on_again_after_every_file_was_resolved(
    tmp_path: Path, monkeypatch: Any
) -> None:
    seen: list[bool] = []

    def fail(*arguments: Any) -> Any:
        seen.append(gc.isenabled())
        raise Cancelled("the call was cancelled")

    assert gc.isenabled()
    monkeypatch.setattr(update, "_by_modules", fail)
    with pytest.raises(Cancelled):
        memory_engine(make_tree(tmp_path, {"a.py": "def a():\n    pass\n"}))
    assert seen == [False]
    assert gc.isenabled()


def test_what_was_read_to_resolve_is_freed_without_a_search_for_cycles(tmp_path: Path) -> None:
    samples = Path(__file__).parents[1] / "languages" / "samples"
    files = {path.name: path.read_bytes() for path in samples.iterdir() if path.suffix != ".outline"}
    root = make_tree(tmp_path, {**files, **{path: texts[0] for path, texts in MODULES.items()}})
    gc.collect()
    gc.disable()
    try:
        with Engine.open(root) as engine:
            engine.refresh()
            assert _left_from_resolving() == []
            for path, texts in MODULES.items():
                write(root, path, texts[-1])
            engine.refresh()
            assert _left_from_resolving() == []
    finally:
        gc.enable()


def _left_from_resolving() -> list[str]:
    kinds = (update._ResolveRun, Resolver, Interface, SqliteWriter)
    return [type(item).__name__ for item in gc.get_objects() if isinstance(item, kinds)]


def test_a_first_index_asks_its_store_for_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def look_up(_: SqliteSnapshot, name: str) -> list[Any]:
        asked.append(name)
        return []

    monkeypatch.setattr(SqliteSnapshot, "symbols_named", look_up)
    files = {"list.c": "int size(void) { return 1; }\n", "main.c": "int main(void) { return size(); }\n"}
    root = make_tree(tmp_path / "tree", files)
    Engine.open(root, index_dir=tmp_path / "index").refresh()
    assert asked == []
    make_tree(root, {"main.c": "int main(void) { return size() + 1; }\n"})
    Engine.open(root, index_dir=tmp_path / "index").refresh()
    assert "size" in asked
