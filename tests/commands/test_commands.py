"""Every command, through the real command line, as text and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, age, git, git_repo, make_tree, run_cli
from schema_checks import check_schema

from satchel import plugins
from satchel.commands.command import Command

ADD_MONEY = '{"items": [{"file": "src/money.py", "start_line": 1, "end_line": 1, "content": "RATE = 2\\n"}]}'
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "batch": ("--items", '[{"id": "one", "action": "search", "payload": {"query": "basket"}}]'),
    "build": (),
    "build_context_pack": ("basket",),
    "context_pack": ("basket",),
    "eval": (str(Path(__file__).parent.parent / "evaluation" / "shop.jsonl"),),
    "files": ("--depth", "1"),
    "get": ("README.md:1:3",),
    "grep": ("basket",),
    "impact": ("add_money",),
    "index": (),
    "map": (),
    "onboard": (),
    "pack": ("basket", "--format", "context"),
    "path": ("Basket.total_price", "add_money"),
    "prompt": (),
    "recall": ("where is the total price",),
    "refs": ("Basket",),
    "runs": (),
    "search": ("basket",),
    "stats": (),
    "status": (),
    "symbols": ("Basket",),
    "sync": (),
    "validate": (),
    "verify": ("--text", ADD_MONEY),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = git_repo(tmp_path_factory.mktemp("work") / "shop", SHOP)
    age(root)
    assert run_cli("build", "--segment", root).returncode == 0
    yield root


def answer(root: Path, *arguments: str, code: int = 0) -> Any:
    done = run_cli(*arguments, "--segment", root, "--json")
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stderr == b""
    return json.loads(done.stdout)


def text(root: Path, *arguments: str, code: int = 0) -> str:
    done = run_cli(*arguments, "--segment", root)
    assert done.returncode == code, done.stderr
    return done.stdout.decode()


def test_every_command_is_tried_here() -> None:
    assert set(plugins.names("command")) == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_command_answers_as_its_schema_says(shop: Path, name: str) -> None:
    command: Command = plugins.load("command", name)
    found = answer(shop, name, *ARGUMENTS[name])
    check_schema(found, f"{name}.response")
    assert set(found) <= set(command.response.__struct_fields__)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_command_has_a_form_for_people(shop: Path, name: str) -> None:
    shown = text(shop, name, *ARGUMENTS[name])
    assert shown.strip() and not shown.lstrip().startswith("{") and "\x1b" not in shown


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_command_explains_itself(shop: Path, name: str) -> None:
    done = run_cli(name, "--help")
    assert done.returncode == 0 and b"--json" in done.stdout and b"--segment" in done.stdout


def test_search_answers_with_the_promised_fields(shop: Path) -> None:
    found = answer(shop, "search", "add_money", "-k", "2", "--explain")
    assert set(found) == {"query", "hits"} and len(found["hits"]) == 2
    expected = ["id", "path", "start_line", "end_line", "kind", "name", "score", "snippet", "reasons"]
    assert list(found["hits"][0]) == expected
    assert list(answer(shop, "search", "add_money")["hits"][0]) == expected[:-1]


def test_search_takes_every_filter_as_a_flag(shop: Path) -> None:
    found = answer(
        shop,
        *(
            "search",
            "basket price money",
            "--path-prefix",
            "src",
            "--file-type",
            ".py",
            "--chunk-type",
            "class",
        ),
        *("--tag", "python", "--include", "src", "--exclude", "src/money.py", "--pattern", "*.py"),
        *("--language", "python"),
    )
    assert [hit["path"] for hit in found["hits"]] == ["src/basket.py"]


def test_search_without_hits_proposes_searches(shop: Path) -> None:
    found = answer(shop, "search", "Baskit")
    assert found["hits"] == [] and found["suggestions"][0]["query"]
    assert "Nothing found" in text(shop, "search", "Baskit")


def test_an_id_from_search_can_be_fetched(shop: Path) -> None:
    hit = answer(shop, "search", "add_money")["hits"][0]
    (chunk,) = answer(shop, "get", hit["id"])["chunks"]
    assert (chunk["id"], chunk["path"], chunk["fate"]) == (hit["id"], hit["path"], "current")
    lines = (shop / hit["path"]).read_text().splitlines(True)
    assert chunk["text"] == "".join(lines[hit["start_line"] - 1 : hit["end_line"]])


def test_get_takes_ids_by_position_by_flag_and_by_comma(shop: Path) -> None:
    found = answer(shop, "get", "README.md:1:1", "--ids", "README.md:2:2,README.md:3:3", "README.md:5:5")
    assert [chunk["start_line"] for chunk in found["chunks"]] == [1, 2, 3, 5]


def test_get_reports_an_unknown_id_and_answers_the_rest(shop: Path) -> None:
    found = answer(shop, "get", "README.md:1:1", "nothing:0123456789")
    assert len(found["chunks"]) == 1 and found["missing"][0]["asked"] == "nothing:0123456789"


def test_get_says_what_became_of_a_stale_id(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    hit = answer(root, "search", "core rules")["hits"][0]
    make_tree(root, {"docs/guide.md": "# Guide\n\n## Core rules\n\nPay twice.\n"})
    (chunk,) = answer(root, "get", hit["id"])["chunks"]
    assert chunk["fate"] == "changed" and "Pay twice" in chunk["text"] and chunk["id"] != hit["id"]


def test_symbols_without_a_name_are_all_by_path_up_to_the_limit(shop: Path) -> None:
    everything = answer(shop, "symbols")
    places = [(item["path"], item["start_line"]) for item in everything["symbols"]]
    assert everything["total"] == len(places) > 5 and places == sorted(places)
    few = answer(shop, "symbols", "--limit", "2")
    cursor = few.pop("next_cursor")
    assert few == {**everything, "symbols": everything["symbols"][:2]}
    following = answer(shop, "symbols", "--limit", "2", "--cursor", cursor)
    assert following["symbols"] == everything["symbols"][2:4]


def test_a_path_may_be_written_with_a_dot_before_it(shop: Path) -> None:
    for command in ("symbols", "refs"):
        dotted, plain = (answer(shop, command, path) for path in ("./src/money.py", "src/money.py"))
        assert {**dotted, "name": ""} == {**plain, "name": ""}


def test_symbols_of_a_file_and_of_a_name(shop: Path) -> None:
    of_file = answer(shop, "symbols", "src/basket.py")["symbols"]
    assert [item["qualified_name"] for item in of_file] == ["Basket", "Basket.add_item", "Basket.total_price"]
    (of_name,) = answer(shop, "symbols", "Basket.add_item")["symbols"]
    assert (of_name["path"], of_name["start_line"], of_name["signature"]) == (
        "src/basket.py",
        9,
        "def add_item(self, item)",
    )


def test_an_unknown_symbol_is_an_error_with_near_names(shop: Path) -> None:
    error = answer(shop, "symbols", "Baskit", code=3)["error"]
    assert error["code"] == "symbol_not_found" and "Basket" in error["details"]["near"]
    assert answer(shop, "refs", "Baskit", code=3)["error"]["code"] == "symbol_not_found"


def test_refs_count_by_label(shop: Path) -> None:
    found = answer(shop, "refs", "Basket")
    assert found["total"] == len(found["references"]) == sum(found["counts"].values()) > 0
    only = answer(shop, "refs", "Basket", "--label", "imports")
    assert set(only["counts"]) == {"imports"}


def test_limits_cut_and_the_total_stays_true(shop: Path) -> None:
    found = answer(shop, "symbols", "src/basket.py", "--limit", "1")
    assert (found["total"], len(found["symbols"])) == (3, 1)
    assert answer(shop, "symbols", "Basket", "--limit", "0", code=2)["error"]["code"] == "invalid_request"


def test_map_and_prompt_obey_their_budget(shop: Path) -> None:
    assert answer(shop, "map", "--budget-tokens", "30")["used_tokens"] <= 30
    assert answer(shop, "prompt", "--budget-tokens", "150")["used_tokens"] <= 150
    error = answer(shop, "prompt", "--budget-tokens", "3", code=2)["error"]
    assert error["code"] == "invalid_budget" and error["details"]["min_tokens"] > 3


def test_stats_count_the_tree(shop: Path) -> None:
    found = answer(shop, "stats")
    assert found["files"] == len(SHOP) and found["languages"]["python"] == 3
    assert found["text_bytes"] == sum(len(str(content).encode()) for content in SHOP.values())
    assert found["chunks"] == sum(found["kinds"].values()) and found["index_bytes"] > 0


def test_status_is_fresh_then_stale_then_fresh(tmp_path: Path) -> None:
    root = git_repo(tmp_path, SHOP)
    assert answer(root, "status")["stale_reasons"] == ["index_missing"]
    assert not (root / "_ctx").exists()
    run_cli("index", "--segment", root)
    assert answer(root, "status")["stale"] is False
    make_tree(root, {"README.md": "# Other\n"})
    assert answer(root, "status")["stale_reasons"] == ["git_dirty_mismatch"]
    git(root, "commit", "-qam", "change")
    assert "git_head_mismatch" in answer(root, "status")["stale_reasons"]
    run_cli("search", "other", "--segment", root)
    run_cli("index", "--segment", root)
    assert answer(root, "status")["stale"] is False


def test_status_of_a_plain_folder_is_fresh_after_indexing(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {**SHOP, "satchel.toml": 'ignore = ["docs/"]\n'})
    run_cli("index", "--segment", root)
    assert answer(root, "status")["stale"] is False
    make_tree(root, {"new.md": "# New\n"})
    assert answer(root, "status")["stale_reasons"] == ["filesystem_changed"]


@pytest.mark.usefixtures("default_store")
def test_status_lists_what_was_left_out_and_why(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path, {**SHOP, "logo.png": b"\x89PNG\0\0", ".env": "A=1\n", "node_modules/x/i.js": "x\n"}
    )
    run_cli("index", "--segment", root)
    listed = {item["path"]: item["reason"] for item in answer(root, "status", "--skipped")["skipped"]}
    assert listed == {
        "logo.png": "binary",
        ".env": "sensitive",
        "node_modules": "vendored",
        "_ctx/context.db": "generated",
    }
    assert answer(root, "status")["skipped_counts"] == {"binary": 1, "sensitive": 1, "vendored": 1}


def test_index_counts_what_it_did(tmp_path: Path) -> None:
    root = age(make_tree(tmp_path, SHOP))
    first = answer(root, "index")
    assert (first["parsed"], first["changed"], first["generation"]) == (len(SHOP), True, 1)
    second = answer(root, "index")
    assert (second["parsed"], second["kept"], second["changed"]) == (0, len(SHOP), False)
    assert answer(root, "index", "--force")["parsed"] == len(SHOP)


def test_validate_exits_with_one_and_lists_what_differs(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    assert answer(root, "sync")["ok"] is True
    assert answer(root, "validate")["ok"] is True
    make_tree(root, {"README.md": "# Other\n"})
    found = answer(root, "validate", code=1)
    assert found["ok"] is False and {item["kind"] for item in found["problems"]} >= {"source_changed"}
    assert "source_changed" in text(root, "validate", code=1)
    assert answer(root, "sync")["ok"] is True


def test_validate_without_a_pack_is_an_error_with_the_next_action(tmp_path: Path) -> None:
    error = answer(make_tree(tmp_path, SHOP), "validate", code=3)["error"]
    assert error["code"] == "file_not_found" and error["next_actions"][0]["tool"] == "build"


def test_validate_of_a_broken_pack_exits_with_one(tmp_path: Path) -> None:
    Path(answer(make_tree(tmp_path, SHOP), "build")["path"]).write_text("{")
    assert answer(tmp_path, "validate", code=1)["problems"][0]["kind"] == "schema"


def test_no_refresh_answers_from_the_index_as_it_is(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    assert answer(root, "search", "basket", "--no-refresh", code=4)["error"]["code"] == "index_missing"
    assert not (root / "_ctx").exists()
    run_cli("index", "--segment", root)
    make_tree(root, {"new.md": "# Unicorn\n"})
    done = run_cli("search", "unicorn", "--no-refresh", "--json", "--segment", root)
    assert json.loads(done.stdout)["hits"] == [] and b"stale" in done.stderr
    assert answer(root, "search", "unicorn")["hits"][0]["path"] == "new.md"


def test_a_repo_root_is_where_the_segment_is_relative_to(shop: Path) -> None:
    done = run_cli("stats", "--repo-root", shop.parent, "--segment", "shop", "--json", cwd=Path(os.sep))
    assert json.loads(done.stdout)["segment"] == "shop"


def test_a_sub_folder_is_a_segment_of_its_own(tmp_path: Path) -> None:
    root = git_repo(tmp_path, SHOP)
    found = answer(root / "src", "search", "basket setup", "-k", "50")
    assert {hit["path"] for hit in found["hits"]} <= {"basket.py", "money.py", "till.go"} and found["hits"]


@pytest.mark.parametrize("in_git", [False, True])
def test_what_ignore_files_leave_out_is_listed(tmp_path: Path, in_git: bool) -> None:
    tree = {
        **SHOP,
        ".gitignore": "build/\n",
        ".ignore": "*.log\n",
        ".satchelignore": "drafts/\n",
        "build/deep/a.py": "a = 1\n",
        "src/b.log": "b\n",
        "drafts/c.md": "# C\n",
    }
    root = git_repo(tmp_path, tree) if in_git else make_tree(tmp_path, tree)
    answer(root, "index")
    listed = {item["path"]: item["reason"] for item in answer(root, "status", "--skipped")["skipped"]}
    assert {path for path, reason in listed.items() if reason == "ignored"} == {
        "build",
        "src/b.log",
        "drafts",
    }


def test_a_file_that_defines_nothing_is_not_unknown(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"src/p.py": "print(1)\n"})
    assert answer(root, "symbols", "src/p.py")["symbols"] == []
    assert answer(root, "refs", "./src/p.py")["references"] == []
    assert run_cli("symbols", "src/p.py", "--segment", root).stdout == b"src/p.py: no definitions\n"
    assert run_cli("symbols", "src/q.py", "--segment", root).returncode == 3


def test_a_pack_that_is_kept_in_the_tree_does_not_feed_on_itself(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    sizes = set()
    for _ in range(3):
        answer(root, "build", "--scope", "all", "--output", str(root / "pack.json"))
        sizes.add((root / "pack.json").stat().st_size)
    assert len(sizes) == 1
    assert "pack.json" not in {hit["path"] for hit in answer(root, "search", "basket")["hits"]}
    skipped = {item["path"]: item["detail"] for item in answer(root, "status", "--skipped")["skipped"]}
    assert skipped["pack.json"] == "a context pack of Satchel"


def test_an_empty_folder_that_is_given_for_the_index_is_kept_out_of_git(tmp_path: Path) -> None:
    root = git_repo(tmp_path, SHOP)
    (root / "kept").mkdir()
    assert run_cli("index", "--segment", root, "--index-dir", root / "kept").returncode == 0
    assert git(root, "status", "--porcelain") == ""
