"""The command line and the dispatcher run a command in the same session: the same data, hints and errors."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, age, make_tree, run_cli

from satchel import Engine
from satchel.commands import query_log
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import decode, encode

QUERY = "how is money added to a basket"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return age(make_tree(tmp_path / "shop", SHOP))


def by_cli(root: Path, action: str, *words: str, **environment: str) -> tuple[Any, list[str]]:
    """What the command line prints, and its notes."""
    done = run_cli(action, *words, "--segment", root, "--json", environment=environment)
    return json.loads(done.stdout), done.stderr.decode().splitlines()


def by_dispatcher(root: Path, action: str, payload: dict[str, Any], **options: Any) -> Any:
    given = {"action": action, "payload": {**payload, "project": str(root)}, "options": options}
    return json.loads(encode(Dispatcher().answer(decode(json.dumps(given)))))


def index(root: Path) -> None:
    with Engine.open(root) as engine:
        engine.refresh()


def break_index(root: Path) -> None:
    """Overwrite the page on which the list of files begins, which every query reads."""
    path = root / "_ctx" / "context.db"
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        found = "SELECT rootpage FROM sqlite_master WHERE name = 'file_blocks'"
        (page,) = connection.execute(found).fetchone()
    with path.open("rb+") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def test_the_data_is_the_same(shop: Path) -> None:
    index(shop)
    for action, payload, words in (
        ("search", {"query": QUERY, "k": 3}, (QUERY, "-k", "3")),
        ("build_context_pack", {"query": QUERY, "budget_tokens": 900}, (QUERY, "--budget-tokens", "900")),
        ("symbols", {"name": "add_money"}, ("add_money",)),
    ):
        assert by_cli(shop, action, *words)[0] == by_dispatcher(shop, action, payload)["data"]


def test_both_index_what_is_not_indexed_yet(shop: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(shop, tmp_path / "other"))
    said, notes = by_cli(shop, "search", QUERY)
    told = by_dispatcher(other, "search", {"query": QUERY})
    assert said == told["data"] and notes == [] and told["hints"] == []


def test_a_budget_that_is_too_small_has_the_same_next_action(shop: Path) -> None:
    index(shop)
    said, _ = by_cli(shop, "pack", QUERY, "--budget-tokens", "5", "--format", "markdown")
    told = by_dispatcher(shop, "pack", {"query": QUERY, "budget_tokens": 5, "format": "markdown"})
    assert said["error"] == told["error"] and said["error"]["code"] == "invalid_budget"
    (action,) = said["error"]["next_actions"]
    assert action["args"]["budget_tokens"] == said["error"]["details"]["min_tokens"]


def test_an_index_that_is_not_there_has_the_same_next_action(shop: Path) -> None:
    said, _ = by_cli(shop, "search", QUERY, "--no-refresh")
    told = by_dispatcher(shop, "search", {"query": QUERY}, stale_policy="warn")
    assert said["error"]["code"] == told["error"]["code"] == "index_missing"
    assert said["error"]["next_actions"] == told["error"]["next_actions"]
    assert said["error"]["next_actions"][0]["args"] == {"project": str(shop)}


def test_an_index_that_cannot_be_read_is_built_anew_by_both(shop: Path, tmp_path: Path) -> None:
    index(shop)
    expected = by_dispatcher(shop, "search", {"query": QUERY})["data"]
    break_index(shop)
    other = Path(shutil.copytree(shop, tmp_path / "other"))
    said, notes = by_cli(shop, "search", QUERY)
    told = by_dispatcher(other, "search", {"query": QUERY})
    hints = [hint["text"] for hint in told["hints"]]
    assert said == told["data"] == expected
    assert len(notes) == len(hints) == 1 and "built anew" in notes[0]
    assert [note.removeprefix("note: ") for note in notes] == hints


def test_an_index_that_cannot_be_read_stays_if_nothing_is_to_be_refreshed(shop: Path) -> None:
    index(shop)
    break_index(shop)
    said, _ = by_cli(shop, "search", QUERY, "--no-refresh")
    told = by_dispatcher(shop, "search", {"query": QUERY}, stale_policy="warn")
    assert said["error"]["code"] == told["error"]["code"] == "index_corrupt"
    assert said["error"]["next_actions"] == told["error"]["next_actions"]
    assert not list(shop.glob("_ctx/*unusable*"))


def test_the_query_log_has_the_same_lines(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SATCHEL_QUERY_LOG", "1")
    index(shop)
    by_cli(shop, "search", QUERY, SATCHEL_QUERY_LOG="1")
    by_dispatcher(shop, "search", {"query": QUERY})
    by_dispatcher(shop, "batch", {"items": [{"id": "a", "action": "search", "payload": {"query": QUERY}}]})
    lines = [json.loads(line) for line in (shop / "_ctx" / query_log.FILE).read_text().splitlines()]
    kept = [{name: value for name, value in line.items() if name not in ("at", "ms")} for line in lines]
    assert len(kept) == 2 and kept[0] == kept[1] and kept[0]["found"]
