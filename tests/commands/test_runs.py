"""`satchel runs`: evaluations that were kept, their worst questions, and the difference of two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, git, git_repo, run_cli

ROWS = Path(__file__).parent.parent / "evaluation" / "shop.jsonl"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = git_repo(tmp_path_factory.mktemp("runs") / "shop", SHOP)
    assert ask(root, "runs") == {"runs": []}
    for words in (("--keep", "before", "--profile", "fast"), ("--keep", "after")):
        assert run_cli("eval", ROWS, *words, "-s", root).returncode == 0
    return root


def ask(root: Path, *words: str | Path, code: int = 0) -> Any:
    done = run_cli(*words, "--segment", root, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_the_newest_run_is_shown_with_its_worst_questions_first(shop: Path) -> None:
    found = ask(shop, "runs")
    assert [run["name"] for run in found["runs"]] == ["before", "after"]
    assert found["run"].endswith("-after") and found["runs"][1]["metric"] == "ndcg@10"
    scores = [question["score"] for question in found["questions"]]
    assert scores == sorted(scores) and len(scores) == found["runs"][1]["asked"]
    assert found["metrics"]["ndcg@10"]["mean"] == found["runs"][1]["score"]
    assert len(ask(shop, "runs", "--limit", "1")["questions"]) == 1


def test_two_runs_are_compared_question_by_question(shop: Path) -> None:
    found = ask(shop, "runs", "after", "--against", "before")
    assert found["comparison"]["shared"] == len(found["questions"])
    assert all("other" in question for question in found["questions"]) and found["other_metrics"]
    assert "ndcg@10" in run_cli("runs", "after", "--against", "before", "-s", shop).stdout.decode()


def test_a_saved_file_is_a_run_and_an_unknown_name_an_error(shop: Path, tmp_path: Path) -> None:
    saved = tmp_path / "run.json"
    assert run_cli("eval", ROWS, "--save", saved, "-s", shop).returncode == 0
    assert ask(shop, "runs", saved)["questions"] == ask(shop, "runs", "after")["questions"]
    assert "kept: before, after" in ask(shop, "runs", "other", code=3)["error"]["hint"]
    assert ask(shop, "eval", ROWS, "--keep", "../x", code=2)["error"]["code"] == "invalid_request"


def test_kept_runs_are_ours_for_git_and_for_the_index(shop: Path) -> None:
    assert git(shop, "status", "--porcelain") == ""
    assert not any(item["path"].startswith("_ctx/evals") for item in ask(shop, "files")["files"])


def test_an_index_folder_of_an_earlier_version_learns_of_kept_runs(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    assert run_cli("index", "-s", root).returncode == 0
    ignore = root / "_ctx" / ".gitignore"
    ignore.write_text(ignore.read_text().replace("/evals\n", ""))
    assert run_cli("eval", ROWS, "--keep", "one", "-s", root).returncode == 0
    assert git(root, "status", "--porcelain") == ""
