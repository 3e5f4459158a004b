"""`symbols` by pages, and what every answer says of the index that it is from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, age, git_repo, make_tree, run_cli

from satchel import answer


@pytest.fixture(params=["git", "plain"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return age((git_repo if request.param == "git" else make_tree)(tmp_path / "shop", SHOP))


def ask(root: Path, action: str, **payload: Any) -> Any:
    return answer({"action": action, "payload": {"project": str(root), **payload}})


@pytest.mark.parametrize("name", ["", "src/basket.py"])
def test_pages_together_are_the_whole_list(shop: Path, name: str) -> None:
    whole = ask(shop, "symbols", name=name)["data"]
    assert "next_cursor" not in whole and whole["total"] == len(whole["symbols"]) > 2
    found: list[Any] = []
    cursor = ""
    while cursor or not found:
        page = ask(shop, "symbols", name=name, limit=2, cursor=cursor)["data"]
        assert page["total"] == whole["total"]
        found += page["symbols"]
        cursor = page.get("next_cursor", "")
    assert found == whole["symbols"]


@pytest.mark.parametrize("limit", [2**63, 7133584019807474912986136576])
def test_a_limit_of_more_than_64_bits_is_no_limit(shop: Path, limit: int) -> None:
    found = ask(shop, "symbols", limit=limit)
    assert found["status"] == "ok" and found["data"] == ask(shop, "symbols")["data"]


def test_a_cursor_is_of_one_name_and_one_index(shop: Path) -> None:
    cursor = ask(shop, "symbols", limit=1)["data"]["next_cursor"]
    assert ask(shop, "symbols", name="src/basket.py", cursor=cursor)["error"]["code"] == "cursor_mismatch"
    for broken in ("nonsense", "symbols.x.0", "symbols.-1.0"):
        assert ask(shop, "symbols", cursor=broken)["error"]["code"] == "invalid_cursor"
    make_tree(shop, {"src/new.py": "def brand_new():\n    pass\n"})
    assert ask(shop, "symbols", cursor=cursor)["error"]["code"] == "cursor_mismatch"


def test_the_command_line_says_how_to_go_on(shop: Path) -> None:
    first = run_cli("symbols", "--limit", "1", cwd=shop).stdout.decode()
    cursor = first.rstrip("\n").rpartition(" ")[2]
    second = json.loads(run_cli("symbols", "--limit", "1", "--cursor", cursor, "--json", cwd=shop).stdout)
    whole = json.loads(run_cli("symbols", "--json", cwd=shop).stdout)
    assert second["symbols"] == whole["symbols"][1:2]


@pytest.mark.usefixtures("default_store")
def test_a_fresh_index_says_where_it_is_when_it_was_written_and_from_what(shop: Path) -> None:
    ask(shop, "index")
    told = ask(shop, "search", query="basket")["meta"]
    state, index = told["index_state"], told["index_state"]["index"]
    written_ms = (shop / "_ctx/context.db").stat().st_mtime * 1000
    assert not state["stale"] and index["path"] == "_ctx/context.db" and index["generation"] > 0
    assert abs(index["mtime_ms"] - written_ms) < 5_000 and index["built_at_unix_ms"] == index["mtime_ms"]
    same = {
        name: value for name, value in state["project_watermark"].items() if name != "computed_at_unix_ms"
    }
    assert index["watermark"] == same and type(told["duration_ms"]) is int


def test_every_item_of_a_batch_says_how_its_index_stands(shop: Path) -> None:
    items = [{"id": str(number), "action": "search", "payload": {"query": "basket"}} for number in range(3)]
    told = ask(shop, "batch", items=[*items, {"id": "bad", "action": "search", "payload": {"query": ""}}])[
        "data"
    ]
    assert [item["status"] for item in told["items"]] == ["ok", "ok", "ok", "error"]
    for item in told["items"]:
        assert item["meta"]["index_state"]["index"]["exists"] and not item["meta"]["index_state"]["stale"]
    small = ask(shop, "batch", items=items, max_chars=told["budget"]["used_chars"] // 2)["data"]
    assert all("index_state" in item["meta"] for item in small["items"])
    assert small["budget"]["used_chars"] <= told["budget"]["used_chars"] // 2
