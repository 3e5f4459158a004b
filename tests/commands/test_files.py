"""`satchel files`: figures of files and folders; uses that a definition makes; answers from another commit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, Repository, run_cli

SECRET = 'TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"\n'


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repository = Repository(tmp_path_factory.mktemp("files") / "shop")
    repository.commit("first", {**SHOP, "src/keys.py": SECRET})
    repository.commit(
        "second", {"src/money.py": "RATE = 3\n\n\ndef add_money(amounts):\n    return sum(amounts)\n"}
    )
    return repository.root


def ask(shop: Path, *words: str, code: int = 0) -> Any:
    done = run_cli(*words, "--segment", shop, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_files_have_their_figures(shop: Path) -> None:
    found = {item["path"]: item for item in ask(shop, "files")["files"]}
    money = found["src/money.py"]
    assert (money["lines"], money["language"], money["used_by"], money["changes"]) == (
        5,
        "python",
        1,
        1,
    )  # the first commit of all is no change
    assert money["bytes"] == (shop / "src/money.py").stat().st_size
    assert found["README.md"]["used_by"] == 0 and found["tests/test_basket.py"]["tags"] == ["test"]


def test_deeper_files_are_folded_into_their_folders(shop: Path) -> None:
    every = ask(shop, "files")["files"]
    found = {item["path"]: item for item in ask(shop, "files", "--depth", "1")["files"]}
    inside = [item for item in every if item["path"].startswith("src/")]
    assert set(found) == {"README.md", "config.toml", "docs/", "src/", "tests/"}
    assert found["src/"]["files"] == len(inside) and found["src/"]["bytes"] == sum(
        item["bytes"] for item in inside
    )
    assert found["src/"]["used_by"] == max(item["used_by"] for item in inside)
    below = ask(shop, "files", "src", "--depth", "1")["files"]
    assert [item["path"] for item in below] == [item["path"] for item in inside]
    assert [item["path"] for item in ask(shop, "files", "src/money.py")["files"]] == ["src/money.py"]


def test_files_are_sorted_limited_and_chosen_by_secrets(shop: Path) -> None:
    found = ask(shop, "files", "--sort", "changes", "--limit", "2")
    assert found["files"][0]["path"] == "src/money.py" and len(found["files"]) == 2 < found["total"]
    (keys,) = ask(shop, "files", "--redacted")["files"]
    assert (keys["path"], keys["redactions"], keys["redacted_lines"]) == ("src/keys.py", 1, [1])
    assert ask(shop, "files", "--limit", "0", code=2)["error"]["code"] == "invalid_request"
    assert "more: raise --limit" in run_cli("files", "--limit", "1", "-s", shop).stdout.decode()


def test_files_symbols_uses_and_lines_of_another_commit(shop: Path) -> None:
    old = {item["path"]: item for item in ask(shop, "files", "--ref", "HEAD~1")["files"]}
    assert old["src/money.py"]["lines"] == 6
    text = ask(shop, "get", "src/money.py", "--ref", "HEAD~1")["chunks"][0]["text"]
    assert "RATE = 2" in text and "RATE = 3" in ask(shop, "get", "src/money.py")["chunks"][0]["text"]
    ends = [
        ask(shop, "symbols", "add_money", *ref)["symbols"][0]["end_line"] for ref in ((), ("--ref", "HEAD~1"))
    ]
    assert ends == [5, 6]
    assert ask(shop, "refs", "add_money", "--ref", "HEAD~1")["definitions"][0]["end_line"] == 6
    assert ask(shop, "get", "src/money.py", "--ref", "nowhere", code=3)["error"]["code"] == "ref_not_found"


def test_outgoing_uses_are_what_a_definition_uses(shop: Path) -> None:
    found = ask(shop, "refs", "Basket.total_price", "--outgoing")
    (use,) = found["references"]
    assert (use["path"], use["line"], use["target_name"]) == ("src/basket.py", 13, "add_money")
    assert use["sure"] and use["target"].startswith("src/money.py:4:") and found["total"] == 1
    assert ask(shop, "refs", "add_money", "--outgoing")["references"] == []
