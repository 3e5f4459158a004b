"""The command lines and tool names of older systems: whoever has them in a script keeps the script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import make_tree, run_cli

from satchel import answer, plugins

FILES = {
    "skill.md": "# Core Rules\n\nSync first.\n\n## Commands\n\nRun it.\n",
    "tool.py": "def f():\n    return 1\n",
}


@pytest.fixture(scope="module")
def segment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tree(tmp_path_factory.mktemp("projects") / "debug_terminal", FILES)


def told(*arguments: object, cwd: Path, code: int = 0) -> Any:
    done = run_cli(*arguments, "--json", cwd=cwd)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_build_takes_every_short_flag(segment: Path, tmp_path: Path) -> None:
    above = ("-s", segment.name, "-r", segment.parent)
    shown = told("build", *above, "-n", "-v", cwd=tmp_path)
    assert not shown["written"] and shown["digest"][0]["summary"] == "Core Rules | Core Rules → Commands"
    assert not (segment / "_ctx" / "context_pack.json").exists()
    pack = tmp_path / "custom" / "pack.json"
    built = told("build", *above, "-f", "-o", pack, cwd=tmp_path)
    assert built["written"] and json.loads(pack.read_bytes())["segment"] == "debug_terminal"
    assert told("validate", *above, "-o", pack, cwd=tmp_path)["ok"]
    assert told("sync", *above, "-f", "-o", pack, cwd=tmp_path)["ok"]


def test_a_query_may_stand_behind_its_flag(segment: Path) -> None:
    hits = told("search", "--segment", ".", "--query", "core rules", "--limit", "1", cwd=segment)["hits"]
    assert len(hits) == 1 and hits == told("search", "core rules", "-k", "1", cwd=segment)["hits"]
    packed = run_cli("pack", "--query", "core rules", cwd=segment)
    assert packed.returncode == 0 and packed.stdout == run_cli("pack", "core rules", cwd=segment).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("search", "--limit", "5"), "the following arguments are required: QUERY"),
        (("search", "rules", "--query", "rules"), "QUERY is given twice"),
    ],
)
def test_a_query_is_given_once(segment: Path, arguments: tuple[str, ...], message: str) -> None:
    error = told(*arguments, cwd=segment, code=2)["error"]
    assert (error["code"], error["message"]) == ("invalid_request", message)


def test_get_takes_ids_joined_by_commas(segment: Path) -> None:
    ids = [hit["id"] for hit in told("search", "rules commands", cwd=segment)["hits"]]
    found = told("get", "--segment", ".", "--ids", ",".join(ids), "--mode", "raw", cwd=segment)
    assert len(ids) > 1 and [chunk["id"] for chunk in found["chunks"]] == ids


def test_an_older_name_answers_as_the_command_does(segment: Path) -> None:
    hits = told("search_context", "core rules", "-k", "2", cwd=segment)
    assert hits == told("search", "core rules", "-k", "2", cwd=segment)
    one = hits["hits"][0]["id"]
    assert told("get_context", one, cwd=segment) == told("get", one, cwd=segment)
    gone = answer(
        {"action": "get_context", "payload": {"project": str(segment), "chunk_id": "skill:0123456789"}}
    )
    assert gone["error"]["code"] == "chunk_not_found"


def test_an_older_name_is_listed_nowhere_but_on_the_page_of_its_command() -> None:
    help_text = run_cli("--help").stdout.decode()
    for name in plugins.aliases("command"):
        assert name not in plugins.names("command") and name not in help_text
        assert plugins.find("command", name).name == name
