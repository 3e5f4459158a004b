"""The one line by which a pack names a file says why the file may matter."""

from __future__ import annotations

import pytest
from builders import Files, make_tree, memory_engine

from satchel.engine import Engine
from satchel.pack_request import PackRequest

STEPS = "".join(f"    step_{number}(shop, drawer);\n" for number in range(20))
FILES: Files = {
    "src/config.c": f"void defaults(struct shop *shop) {{\n{STEPS}    // till_limit of a shop\n    shop->till_limit = 5;\n{STEPS}}}\n",
    "src/limits.c": f"int till_limit_of(struct shop *shop) {{\n{STEPS}    return shop->till_limit;\n}}\n",
    "src/till.py": (
        "class Till:\n    def open_till():\n        return 1\n\n    def close_till():\n        return 2\n\n"
        "    def read_limit_of_till():\n        return 3\n"
    ),
    "src/shop.h": "int open_shop(void);\nint close_shop(void);\nint sell_all(void);\nint read_limit(int till);\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("naming") / "tree", FILES))


def naming_line(engine: Engine, query: str, path: str) -> str:
    """Return the line that names the best passage of a file."""
    pipeline = engine.pipeline(PackRequest(query=query))
    best = max((one for one in pipeline.passages(50) if one.path == path), key=lambda one: one.promise)
    line = pipeline.reading.naming_line(best)
    return pipeline.reading.lines(path)[line - 1].strip()


@pytest.mark.parametrize("query", ["where is till_limit set", "tillLimit", "--till-limit"])
def test_it_holds_the_name_that_is_asked_for(shop: Engine, query: str) -> None:
    assert naming_line(shop, query, "src/config.c") == "shop->till_limit = 5;"


def test_a_signature_that_holds_the_name_goes_first(shop: Engine) -> None:
    line = naming_line(shop, "where is till_limit_of called with till_limit", "src/limits.c")
    assert line == "int till_limit_of(struct shop *shop) {"


def test_without_a_name_it_is_the_signature(shop: Engine) -> None:
    assert naming_line(shop, "steps of the shop", "src/config.c") == "void defaults(struct shop *shop) {"


def test_of_several_definitions_it_is_the_one_with_most_of_the_query(shop: Engine) -> None:
    line = naming_line(shop, "where is the limit of the till read", "src/till.py")
    assert line == "def read_limit_of_till():"


def test_where_nothing_is_defined_it_is_the_line_with_most_of_the_query(shop: Engine) -> None:
    line = naming_line(shop, "where is the limit of the till read", "src/shop.h")
    assert line == "int read_limit(int till);"
