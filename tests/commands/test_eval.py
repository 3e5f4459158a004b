"""`eval` through the real command line: table, JSON, files, comparisons, gates, errors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, Repository, git, git_repo, make_tree, run_cli

QUESTIONS = Path(__file__).parent.parent / "evaluation" / "shop.jsonl"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tree(tmp_path_factory.mktemp("work") / "shop", SHOP)


def evaluate(root: Path, *arguments: str | Path, code: int = 0) -> Any:
    done = run_cli("eval", *arguments, "--segment", root, "--json")
    assert done.returncode == code, (done.stdout, done.stderr)
    return json.loads(done.stdout)


def test_the_data_is_the_same_every_time_and_times_stand_in_meta(shop: Path) -> None:
    one, two = (evaluate(shop, QUESTIONS, "--by", "category") for _ in range(2))
    assert set(one.pop("meta")) == {"latency_p50_ms", "latency_p95_ms"} and two.pop("meta")
    assert one == two and list(one["groups"]) == ["code", "docs"]
    assert "ms" not in json.dumps(one)


def test_a_table_shows_every_metric_with_its_interval(shop: Path) -> None:
    done = run_cli("eval", QUESTIONS, "--segment", shop, "--by", "language")
    shown = done.stdout.decode()
    assert "4 questions from 4 rows" in shown and "ndcg@10" in shown and " … " in shown
    assert "file_recall@8000t" in shown and "line_recall@500t" in shown and "markdown" in shown
    assert done.stderr == b""


def test_a_run_can_be_saved_compared_and_drawn(shop: Path, tmp_path: Path) -> None:
    base, plot = tmp_path / "base.json", tmp_path / "recall.svg"
    assert evaluate(shop, QUESTIONS, "--save", base)["written"] == [str(base)]
    found = evaluate(shop, QUESTIONS, "--compare", base, "--plot", plot)
    assert (found["comparison"]["verdict"], found["comparison"]["shared"]) == ("no difference", 4)
    assert "too few" in found["notes"][0] and plot.read_text().startswith("<svg")
    shown = run_cli("eval", QUESTIONS, "--segment", shop, "--compare", base).stdout.decode()
    assert "no difference (4 questions compared)" in shown


@pytest.mark.parametrize("profile", ["quality", "fast"])
def test_a_profile_is_compared_with_another(shop: Path, profile: str) -> None:
    found = evaluate(shop, QUESTIONS, "--profile", "quality", "--compare-profile", profile)
    assert found["profile"] == "quality" and found["comparison"]["against"] == f"profile {profile}"
    assert found["comparison"]["shared"] == 4
    if profile == "quality":
        assert {item["difference"]["mean"] for item in found["comparison"]["differences"]} == {0}


def test_saving_twice_gives_the_same_bytes(shop: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        evaluate(shop, QUESTIONS, "--save", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_gates_that_hold_exit_with_zero(shop: Path) -> None:
    found = evaluate(shop, QUESTIONS, "--gate", "mrr>=0.01", "--gate", "recall@10>=0.1")
    assert found["ok"] is True and [gate["ok"] for gate in found["gates"]] == [True, True]


def test_a_missed_gate_exits_with_one_and_names_value_and_limit(shop: Path, tmp_path: Path) -> None:
    row = {"query_id": "1", "query": "basket", "gold": [{"path": "src/basket.py"}, {"path": "src/none.py"}]}
    (tmp_path / "q.jsonl").write_text(json.dumps(row))
    found = evaluate(shop, tmp_path / "q.jsonl", "--gate", "recall@10>=0.9", "--gate", "mrr>=0.01", code=1)
    assert found["ok"] is False and [gate["ok"] for gate in found["gates"]] == [False, True]
    assert found["gates"][0]["message"] == "recall@10 is 0.5, the gate is 0.9: missed"
    assert (
        "recall@10 is 0.5"
        in run_cli(
            "eval", tmp_path / "q.jsonl", "--segment", shop, "--gate", "recall@10>=0.9"
        ).stdout.decode()
    )


def test_a_gate_on_lines_without_lines_is_missed(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(
        '{"cases": [{"id": 1, "query": "basket", "expected_paths": ["src/basket.py"]}]}'
    )
    (gate,) = evaluate(shop, tmp_path / "q.json", "--gate", "line_recall@500t>=0", code=1)["gates"]
    assert gate["value"] is None and "no gold has lines" in gate["message"]


def test_history_is_asked_through_the_command_line(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    make_tree(root, {"src/money.py": "RATE = 3\n"})
    git_repo(root, {})  # its message is "x", which asks nothing
    assert evaluate(root, "--history", "5", code=2)["error"]["hint"].startswith("the history")
    make_tree(root, {"src/till.go": "package till\n"})
    git(root, "commit", "-q", "-a", "-m", "Empty the till file")
    found = evaluate(root, "--history", "5")
    assert (found["source"], found["asked"], found["left_out"]) == (
        "history",
        1,
        {"few_words": 1, "root_commit": 1},
    )
    assert found["left_out_examples"][0]["detail"] == "x" and "1 of 5" in found["notes"][0]


@pytest.fixture(scope="module")
def shop_with_fixes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Repository(tmp_path_factory.mktemp("fixes") / "shop")
    made.commit("The shop as it is", SHOP)
    for number in range(3, 9):
        text = f"RATE = 2\n\n\ndef add_money(amounts):\n    return sum(amounts) * {number}\n"
        made.commit(f"Fix wrong sums of add_money {number}", {"src/money.py": text})
    return made.root


def without_ripgrep(folder: Path) -> dict[str, str]:
    """Return an environment whose PATH holds git and no rg."""
    program = shutil.which("git")
    assert program is not None
    folder.mkdir()
    (folder / "git").symlink_to(program)
    return {"PATH": str(folder)}


def test_fixes_are_replayed_through_the_command_line(shop_with_fixes: Path, tmp_path: Path) -> None:
    environment = without_ripgrep(tmp_path / "bin")
    arguments = ["eval", "--tasks", "--segment", str(shop_with_fixes), "--json"]
    done = run_cli(*arguments, "--gate", "definitions@4000t>=0.9", environment=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["source"], found["asked"], found["tokenizer"]) == ("tasks", 6, "o200k")
    assert found["metrics"]["definitions@2000t"]["mean"] == 1 and "ndcg@10" not in found["metrics"]
    assert [item["policy"] for item in found["policies"]] == ["pack", "next", "search"]
    assert found["policies"][0]["reached"] == 1 and found["policies"][0]["ceiling"] == 30_000
    assert "rg is not on the PATH" in found["notes"][0] and "50 were asked for" in found["notes"][1]
    assert found["left_out"] == {"root_commit": 1}
    again = json.loads(
        run_cli(*arguments, "--gate", "definitions@4000t>=0.9", environment=environment).stdout
    )
    assert again.pop("meta") and found.pop("meta") and again == found


def test_replayed_fixes_are_shown_saved_and_compared(shop_with_fixes: Path, tmp_path: Path) -> None:
    environment = without_ripgrep(tmp_path / "bin")
    base = tmp_path / "base.json"
    arguments = ["eval", "--tasks", "6", "--segment", str(shop_with_fixes), "--by", "language"]
    done = run_cli(*arguments, "--save", base, environment=environment)
    shown = done.stdout.decode()
    assert "6 fixes replayed from 6 commits" in shown and "first pack of each tree" in shown
    assert "tokens until every changed line was seen, 30,000 at most:" in shown
    assert "pack, next, get" in shown and "python" in shown and "ripgrep, windows" not in shown
    (first, *_) = json.loads(base.read_text())["queries"]
    assert set(first["tokens"]) == {"pack", "next", "search"}
    compared = json.loads(run_cli(*arguments, "--compare", base, "--json", environment=environment).stdout)[
        "comparison"
    ]
    assert (compared["verdict"], compared["shared"]) == ("no difference", 6)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], "invalid_request", "one of them"),
        ([str(QUESTIONS), "--history", "5"], "invalid_request", "one of them"),
        (["--history", "0"], "invalid_request", "from 1 to"),
        (
            [str(QUESTIONS), "--compare", "x", "--compare-profile", "fast"],
            "invalid_request",
            "two comparisons",
        ),
        ([str(QUESTIONS), "--profile", "slow"], "invalid_request", "slow"),
        (["--history", "5", "--repo", "x"], "invalid_request", "rows of a dataset"),
        (["--history", "5", "--tasks", "5"], "invalid_request", "one of them"),
        (["--tasks", "0"], "invalid_request", "tasks is 0"),
        (["--tasks", "5", "--set", "x"], "invalid_request", "rows of a dataset"),
        (["--tasks", "5", "--plot", "x.svg"], "invalid_request", "recall of searches"),
        (["--tasks"], "unsupported", "no history"),
        (["--history", "5"], "unsupported", "no history"),
        (["none.jsonl"], "file_not_found", "none.jsonl"),
        ([str(QUESTIONS), "--by", "colour"], "invalid_request", "by"),
        ([str(QUESTIONS), "--gate", "speed>=1"], "invalid_request", "no metric"),
        ([str(QUESTIONS), "--tokenizer", "none"], "unsupported", "tokenizer"),
        ([str(QUESTIONS), "--repo", "none"], "invalid_request", "no repo"),
        ([str(QUESTIONS), "--compare", "none.json"], "file_not_found", "none.json"),
    ],
)
def test_what_cannot_be_evaluated_is_a_typed_error(
    tmp_path: Path, arguments: list[str], code: str, said: str
) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    done = run_cli(
        "eval",
        *arguments,
        "--segment",
        root,
        "--json",
        environment={"GIT_CEILING_DIRECTORIES": str(tmp_path)},
    )
    error = json.loads(done.stdout)["error"]
    assert done.returncode in (2, 3) and error["code"] == code and said in error["message"] and error["hint"]
