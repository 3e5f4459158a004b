"""The commands of packs on the real command line: the bytes on stdout are what the budget counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import SHOP, age, git_repo, make_tree, run_cli

from satchel import tokenizers

FORMATS = ("context", "markdown", "xml", "terminal", "json", "sections")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return age(git_repo(tmp_path_factory.mktemp("cli"), SHOP))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("tokenizer", ["o200k", "claude"])
def test_the_bytes_on_stdout_are_within_the_tokens(shop: Path, format: str, tokenizer: str) -> None:
    asked = ("pack", "basket total price", "--segment", shop, "--format", format, "--tokenizer", tokenizer)
    done = run_cli(*asked, "--budget-tokens", "700")
    text = done.stdout.decode()
    assert done.returncode == 0 and "src/basket.py" in text
    assert 150 < tokenizers.get(tokenizer).count(text) <= 700


@pytest.mark.parametrize("format", FORMATS)
def test_the_bytes_on_stdout_are_within_the_characters_and_verified(
    shop: Path, format: str, tmp_path: Path
) -> None:
    asked = ("pack", "basket total price", "--segment", shop, "--format", format)
    done = run_cli(*asked, "--max-chars", "2600")
    assert done.returncode == 0 and 500 < len(done.stdout.decode()) <= 2600
    (tmp_path / "pack").write_bytes(done.stdout)
    verified = run_cli("verify", tmp_path / "pack", "--segment", shop)
    assert verified.returncode == 0, verified.stdout


@pytest.mark.parametrize("command", ["pack", "context_pack", "build_context_pack"])
def test_json_is_the_data_and_its_ids_are_found_by_get(shop: Path, command: str) -> None:
    data = json.loads(run_cli(command, "basket total price", "--segment", shop, "--json").stdout)
    items = data["items"] if "items" in data else [one for part in data["sections"].values() for one in part]
    ids = [item.get("chunk_id") or item["snippet_id"] for item in items]
    got = json.loads(run_cli("get", *ids, "--segment", shop, "--json").stdout)
    assert ids and [chunk["text"] for chunk in got["chunks"]] == [item["content"] for item in items]
    assert not got.get("missing")


def test_both_budgets_hold_together(shop: Path) -> None:
    asked = ("pack", "basket", "--segment", shop, "--format", "sections")
    for tokens, chars in (("500", "4000"), ("4000", "1500")):
        text = run_cli(*asked, "--budget-tokens", tokens, "--max-chars", chars).stdout.decode()
        assert 0 < len(text) <= int(chars) and tokenizers.get("o200k").count(text) <= int(tokens)


def refused(root: Path, *arguments: str) -> str:
    """What a call that is refused says."""
    done = run_cli(*arguments, "--segment", root, "--json")
    error = json.loads(done.stdout)["error"]
    assert done.returncode == 2 and error["code"] == "invalid_request" and error["hint"]
    return str(error["message"])


@pytest.mark.parametrize("change", [("--diff", "HEAD"), ("--staged",), ("--changed",)])
@pytest.mark.parametrize(
    "flag", [("--mode", "edit_minimal"), ("--section-caps", "tests=0"), ("--max-candidates", "5")]
)
def test_the_pack_of_a_change_refuses_what_it_would_ignore(
    shop: Path, change: tuple[str, ...], flag: tuple[str, str]
) -> None:
    assert flag[0][2:].replace("-", "_") in refused(shop, "pack", *change, *flag)


@pytest.mark.parametrize(
    "arguments",
    [
        ("pack", "basket", "--ref", ""),
        ("pack", "basket", "--ref="),
        ("pack", "--diff", ""),
        ("pack", "basket", "--diff", ""),
        ("context_pack", "basket", "--ref", ""),
        ("build_context_pack", "basket", "--ref", ""),
        ("verify", "pack.md", "--ref", ""),
    ],
)
def test_an_empty_ref_is_never_the_work_tree(shop: Path, arguments: tuple[str, ...]) -> None:
    assert "is empty" in refused(shop, *arguments)


@pytest.mark.parametrize("written", ["tests", "tests=", "tests=x", "=3", "tests=1,docs", "tests=1.5"])
def test_pairs_that_are_none_are_refused_with_their_form(shop: Path, written: str) -> None:
    message = refused(shop, "pack", "basket", "--section-caps", written)
    assert "NAME=N" in message and "_pairs" not in message


def test_a_pack_of_a_ref_is_that_of_the_same_tree(shop: Path) -> None:
    asked = ("build_context_pack", "basket total price", "--segment", shop, "--json")
    now, then = (json.loads(run_cli(*asked, *more).stdout) for more in ((), ("--ref", "HEAD")))
    assert now["ref"] == "worktree" and len(then["ref"]) == 40
    assert contents(now) == contents(then) != []


def contents(answer: dict[str, dict[str, list[dict[str, str]]]]) -> list[str]:
    return [one["content_hash"] for part in answer["sections"].values() for one in part]


def test_repeated_questions_give_the_same_bytes(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    for format in FORMATS[:4]:
        asked = ("pack", "how does the customer pay", "--segment", root, "--format", format)
        assert run_cli(*asked).stdout == run_cli(*asked, "--no-refresh").stdout != b""
