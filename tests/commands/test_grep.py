"""`satchel grep`: citations are true, budgets hold, counts add up."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
import pytest
from builders import make_tree
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel import Engine, tokenizers
from satchel.commands.grep import COMMAND, GrepRequest, GrepResponse, run
from satchel.commands.session import Session
from satchel.commands.tool_results import facts, result_json
from satchel.errors import InvalidBudget, InvalidRequest
from satchel.lines import split_lines
from satchel.rendering import agent_text
from satchel.rendering.packs import PACK_FORMATS
from satchel.visible_json import compact

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
FILES = {
    "src/cart.py": (
        "class Cart:\n    def total(self, items):\n        return sum(item.price for item in items)\n\n"
        "    def empty(self):\n        return not self.items\n"
    ),
    "src/shop.py": "from cart import Cart\n\n\ndef sell(items):\n    return Cart().total(items)\n",
    "tests/test_cart.py": "def test_total():\n    items = []\n    assert Cart().total(items) == 0\n",
    "README.md": "# Shop\n\nAll items of a cart.\n",
    "long.txt": "var items = '" + "x" * 5_000 + "items';\n",
    "settings.py": f"TOKEN = '{SECRET}'\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(make_tree(tmp_path_factory.mktemp("grep") / "shop", FILES))
    engine.refresh()
    return engine


def grep(engine: Engine, pattern: str, **fields: object) -> GrepResponse:
    return run(Session(engine, PACK_FORMATS), msgspec.convert({"pattern": pattern, **fields}, GrepRequest))


@settings(max_examples=60, deadline=None)
@given(budget=st.integers(150, 3_000), context=st.integers(0, 5))
def test_every_budget_holds_and_every_citation_is_true(engine: Engine, budget: int, context: int) -> None:
    found = grep(engine, "items", budget_tokens=budget, context=context)
    assert tokenizers.get("o200k").count(compact(found)) <= found.used_tokens <= budget
    for group in found.groups:
        lines = split_lines(engine.snapshot().text(group.path))
        for part in group.excerpts:
            text = "".join(lines[part.start_line - 1 : part.end_line])
            assert part.content_hash == hashlib.sha256(text.encode()).hexdigest()
            assert part.is_cut or part.text == text
            assert all("items" in lines[number - 1] for number in part.matched)
            chunk = engine.get(part.chunk_id)
            assert chunk.start_line <= part.matched[0] <= chunk.end_line


@pytest.mark.parametrize("tokenizer", ["o200k", "claude"])
@pytest.mark.parametrize("reserve", [0, 30])
def test_a_budget_counts_what_the_caller_receives(engine: Engine, tokenizer: str, reserve: int) -> None:
    count = tokenizers.get(tokenizer).count
    for budget in range(200, 1_000, 50):
        asked = {"budget_tokens": budget, "tokenizer": tokenizer, "reserve_tokens": reserve, "context": 1}
        text = grep(engine, "items", budget_counts="text", **asked)
        assert count(agent_text.render(text)) <= text.used_tokens <= budget - reserve
        both = grep(engine, "items", budget_counts="text_and_facts", **asked)
        sent = result_json(agent_text.render(both), {"data": facts(both)})
        assert count(sent) <= both.used_tokens <= budget - reserve
        assert text.shown_matches >= both.shown_matches


def test_text_has_room_for_twice_the_lines_of_json(tmp_path: Path) -> None:
    files = {
        f"app/part_{number}.py": f"def first_{number}(wanted):\n    return wanted + {number}\n"
        for number in range(60)
    }
    engine = Engine.open(make_tree(tmp_path / "parts", files))
    engine.refresh()
    data, text = (
        grep(engine, "wanted", budget_tokens=2_000, budget_counts=counts) for counts in ("data", "text")
    )
    assert text.shown_matches > 2 * data.shown_matches > 0


def test_counts_add_up(engine: Engine) -> None:
    written = sum(text.count("items") for text in FILES.values())
    found = grep(engine, "items")
    assert (found.matches, found.files) == (written, 5)
    assert (found.shown_matches, found.shown_files) == (written, 5)
    counted = grep(engine, "items", count=True)
    assert sum(item.matches for item in counted.counts) == written
    few = grep(engine, "items", budget_tokens=400)
    assert 0 < few.shown_matches < written == few.matches


def test_matches_are_grouped_by_the_definition_around_them(engine: Engine) -> None:
    groups = grep(engine, "items", path_prefix="src").groups
    assert {(group.path, group.name) for group in groups} == {
        ("src/cart.py", "Cart.total"),
        ("src/cart.py", "Cart.empty"),
        ("src/shop.py", "sell"),
    }


def test_a_kind_of_chunk_is_a_filter(engine: Engine) -> None:
    found = grep(engine, "items", chunk_type="function")
    assert found.groups
    assert {group.path for group in found.groups} <= {"src/shop.py", "tests/test_cart.py"}


def test_a_secret_is_not_found(engine: Engine) -> None:
    assert grep(engine, SECRET[:12]).matches == 0
    assert grep(engine, "TOKEN = ").matches == 1


@pytest.mark.parametrize("tokenizer", ["o200k", "cl100k", "claude", "chars4"])
@pytest.mark.parametrize("budget", [-7, 0, 1, 20])
def test_a_budget_that_is_too_small_names_one_that_works(engine: Engine, budget: int, tokenizer: str) -> None:
    with pytest.raises(InvalidBudget) as refused:
        grep(engine, "items", budget_tokens=budget, tokenizer=tokenizer)
    least = refused.value.details["min_tokens"]
    assert grep(engine, "items", budget_tokens=least, tokenizer=tokenizer).used_tokens <= least


def test_what_cannot_be_asked_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidBudget) as refused:
        grep(engine, "items", budget_tokens=200_001)
    assert refused.value.details == {"max_tokens": 200_000}
    with pytest.raises(InvalidRequest):
        grep(engine, "items", context=51)


def test_the_text_for_agents_cites_each_line(engine: Engine) -> None:
    text = agent_text.render(grep(engine, "def total"))
    assert "src/cart.py:2-3 method Cart.total [defined here]" in text
    assert re.search(r"^  2 #[0-9a-f]{8}:     def total\(self, items\):$", text, re.MULTILINE)
    assert COMMAND.tool == "grep"


def test_code_of_the_project_goes_before_definitions_in_what_tests_or_measures_it(tmp_path: Path) -> None:
    files = {
        "app/server.py": "def serve(config):\n    return config.grace_seconds\n",
        "app/settings.py": "def grace_seconds():\n    return 5\n",
        "benchmarks/load.py": "grace_seconds = 30\n",
        "docs/conf.md": "Set grace_seconds.\n",
        "examples/conf.py": "grace_seconds = 1\n",
        "tests/test_server.py": "def grace_seconds():\n    return 5\n",
    }
    engine = Engine.open(make_tree(tmp_path / "app", files))
    engine.refresh()
    paths = [group.path for group in grep(engine, "grace_seconds").groups]
    assert paths[:2] == ["app/settings.py", "app/server.py"] and paths[-1] == "docs/conf.md"
    assert len(paths) == len(files)


def test_nothing_found_is_said(engine: Engine, tmp_path: Path) -> None:
    assert "0 matches in 0 files" in agent_text.render(grep(engine, "no such text"))
