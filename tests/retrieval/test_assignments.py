"""Whoever asks where a name is set is led to the lines that give it a value."""

from __future__ import annotations

import pytest
from builders import Files, make_tree, memory_engine

from satchel import Engine

READS = "".join(
    f"def read_{n}(config):\n    return config.max_age == {n} or max_age != {n}\n\n\n" for n in range(12)
)
FILES: Files = {
    "src/max_age.py": f"# max_age is set elsewhere: max_age = 1\n{READS}",
    "src/age.py": READS,
    "src/start.py": "class Start:\n    def __init__(self):\n        self.max_age: int = 5\n",
    "src/shop.php": "<?php\nclass Shop {\n  public static $openHours = [1, 2];\n}\n",
    "src/hours.php": "<?php\nfunction hours() {\n  return Shop::$openHours == [] ? 1 : count(Shop::$openHours);\n}\n",
    "src/shop.go": "package shop\n\nfunc open() {\n\tretryCount := 3\n\tuse(retryCount)\n}\n",
    "src/retry.go": "package shop\n\nfunc retry() bool { return retryCount >= 3 }\n",
    "tests/test_start.py": "def test_it():\n    max_age = 7\n    assert max_age\n",
    **{f"src/fill{n}.py": f"def fill_{n}(order):\n    order.line_count = {n}\n" for n in range(9)},
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("sets") / "tree", FILES))


def is_pinned(engine: Engine, query: str) -> bool:
    """Return whether the first hit is first because of one of its lines."""
    return any(one.signal == "message" for one in engine.search(query, 1, explain=True)[0][0].reasons)


@pytest.mark.parametrize(
    ("question", "path", "text"),
    [
        ("where is max_age set", "src/start.py", "self.max_age: int = 5"),
        ("what is the default value of `max_age`?", "src/start.py", "self.max_age: int = 5"),
        ("where is openHours initialised", "src/shop.php", "$openHours = [1, 2]"),
        ("where does retryCount get assigned", "src/shop.go", "retryCount := 3"),
    ],
)
def test_the_line_that_sets_a_name_is_first_and_in_a_small_pack(
    engine: Engine, question: str, path: str, text: str
) -> None:
    hit = engine.search(question, 1)[0][0]
    assert hit.path == path and text in hit.text and is_pinned(engine, question)
    items = engine.pack(question, budget_tokens=500).items
    assert any(item.path == path and text in item.content for item in items)


@pytest.mark.parametrize(
    "question", ["where is max_age read", "where is the set of orders", "where is line_count set", "max_age"]
)
def test_another_question_and_a_name_that_many_lines_set_point_at_none(engine: Engine, question: str) -> None:
    assert not is_pinned(engine, question)
