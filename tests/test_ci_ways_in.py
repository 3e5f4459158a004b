"""What other repositories take from this one for their CI works: the steps of the action, and the pre-commit hook."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are bash")


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with two commits, the second of which changes how often a payment is tried."""
    root = tmp_path / "shop"
    shutil.copytree(ROOT / "examples" / "shop", root, ignore=shutil.ignore_patterns("_ctx"))
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "The shop opens")
    path = root / "shop" / "payment.py"
    path.write_text(path.read_text().replace("RETRIES = 3", "RETRIES = 5"))
    git(root, "commit", "-qam", "A busy bank is asked five times")
    return root


class Runner:
    """A runner of actions: the variables that GitHub sets, a `satchel` on the PATH, and a `gh` that takes notes."""

    def __init__(self, shop: Path) -> None:
        self.folder = shop
        self.temp = shop.parent / "runner"
        self.programs = shop.parent / "programs"
        self.temp.mkdir()
        self.programs.mkdir()
        self.program("satchel", f'exec {shlex.quote(sys.executable)} -m satchel "$@"')
        self.program("gh", f'printf "%s\\n" "$@" >{shlex.quote(str(self.temp / "gh.txt"))}')

    def program(self, name: str, code: str) -> None:
        (self.programs / name).write_text(f"#!/bin/sh\n{code}\n")
        (self.programs / name).chmod(0o755)

    def run(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the step as the action does, with its own defaults for what is not given."""
        step = ACTION["runs"]["steps"][-1]
        variables = {name: self.value(text, inputs) for name, text in step["env"].items()}
        environment = {
            **os.environ,
            **variables,
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(self.temp / "output.txt"),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
            "RUNNER_TEMP": str(self.temp),
        }
        return subprocess.run(
            ["bash", "-c", step["run"]], cwd=self.folder, env=environment, capture_output=True, text=True
        )

    @staticmethod
    def value(text: str, inputs: dict[str, str]) -> str:
        named = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)
        if named is None:
            return "7" if "pull_request.number" in text else ""
        default = ACTION["inputs"][named[1]]["default"]
        return inputs.get(named[1].replace("-", "_"), default if "${{" not in default else "")

    def summary(self) -> str:
        return (self.temp / "summary.md").read_text()


def test_every_input_reaches_the_steps() -> None:
    step = ACTION["runs"]["steps"][-1]
    named = set(re.findall(r"inputs\.([\w-]+)", " ".join(step["env"].values())))
    assert named == set(ACTION["inputs"]) and "${{" not in step["run"]


def test_a_review_is_packed_and_becomes_a_comment(shop: Path) -> None:
    runner = Runner(shop)
    result = runner.run(mode="review", base="HEAD~1", comment="true")
    assert result.returncode == 0, result.stderr
    pack = Path((runner.temp / "output.txt").read_text().strip().removeprefix("pack="))
    assert "RETRIES = 5" in pack.read_text() and pack.read_text() == runner.summary()
    said = (runner.temp / "gh.txt").read_text().splitlines()
    assert said == ["pr", "comment", "7", "--edit-last", "--create-if-none", "--body-file", str(pack)]


def test_a_question_is_packed_whatever_it_says(shop: Path) -> None:
    runner = Runner(shop)
    query = "--how is a 'payment' retried $(touch hacked) `touch hacked`"
    result = runner.run(mode="pack", query=query, budget_tokens="600")
    assert result.returncode == 0 and "shop/payment.py" in runner.summary(), result.stderr
    assert not (shop / "hacked").exists() and not (runner.temp / "gh.txt").exists()


@pytest.mark.parametrize(("least", "code"), [("0.1", 0), ("0.99999", 1)])
def test_a_gate_decides(least: str, code: int, shop: Path) -> None:
    row = {"query_id": "1", "query": "busy bank", "gold": [{"path": "shop/payment.py"}]}
    other = {"query_id": "2", "query": "what does tea cost", "gold": [{"path": "shop/payment.py"}]}
    (shop / "questions.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(other)}\n")
    result = Runner(shop).run(mode="eval", questions="questions.jsonl", gates=f"ndcg@10>={least}\n\nmrr>=0.1")
    assert result.returncode == code, result.stdout + result.stderr


def kept_pack(shop: Path) -> Path:
    """A pack that the repository keeps."""
    words = ["pack", "where is tax computed", "--format", "markdown", "--budget-tokens", "600"]
    pack = subprocess.run(
        [sys.executable, "-m", "satchel", *words], cwd=shop, capture_output=True, check=True
    )
    (shop / "tax notes.pack.md").write_bytes(pack.stdout)
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "A pack about tax")
    return shop / "tax notes.pack.md"


def test_packs_that_are_kept_are_verified(shop: Path) -> None:
    kept_pack(shop)
    runner = Runner(shop)
    assert runner.run(mode="verify").returncode == 0
    change_tax(shop)
    result = runner.run(mode="verify")
    assert result.returncode == 1 and "shop/prices.py" in result.stdout
    runner.folder = shop.parent
    assert runner.run(mode="verify", segment="shop").stdout == result.stdout


def change_tax(shop: Path) -> None:
    path = shop / "shop" / "prices.py"
    path.write_text(path.read_text().replace("STANDARD_TAX = 0.2", "STANDARD_TAX = 0.25"))


def test_an_unknown_mode_is_refused(shop: Path) -> None:
    result = Runner(shop).run(mode="praise")
    assert result.returncode == 2 and "'praise'" in result.stderr


def hook_config(hook: dict[str, Any]) -> str:
    """A configuration with our hook as it is published, but with the programs of this machine."""
    local = {**hook, "language": "system"}
    return yaml.safe_dump({"repos": [{"repo": "local", "hooks": [local]}]})


@pytest.mark.skipif(shutil.which("pre-commit") is None, reason="pre-commit is not installed")
def test_pre_commit_stops_a_commit_that_makes_a_pack_untrue(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(shop)
    monkeypatch.setenv("PATH", f"{runner.programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(shop.parent / "home"))
    kept_pack(shop)
    (shop / ".pre-commit-config.yaml").write_text(hook_config(HOOK))
    git(shop, "add", "-A")
    run = ["pre-commit", "run"]
    first = subprocess.run(run, cwd=shop, capture_output=True, text=True)
    assert first.returncode == 0 and "Passed" in first.stdout, first.stdout
    change_tax(shop)
    git(shop, "add", "-A")
    second = subprocess.run(run, cwd=shop, capture_output=True, text=True)
    assert second.returncode == 1 and "shop/prices.py" in second.stdout


@pytest.mark.skipif(shutil.which("pre-commit") is None, reason="pre-commit is not installed")
def test_pre_commit_accepts_the_list_of_hooks() -> None:
    command = ["pre-commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")]
    assert subprocess.run(command, capture_output=True).returncode == 0


def test_the_page_about_ci_names_inputs_and_hooks_that_there_are() -> None:
    page = (ROOT / "docs" / "ci.md").read_text()
    workflow, hooks = (yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S))
    given = workflow["jobs"]["review"]["steps"][-1]["with"]
    assert given.keys() <= ACTION["inputs"].keys()
    assert hooks["repos"][0]["hooks"] == [{"id": HOOK["id"]}]
    table = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", page, re.M)
    assert {mode for mode, _ in table} - {"mode"} == {"review", "pack", "eval", "verify"}
    assert {name for _, inputs in table for name in re.findall(r"`([\w-]+)`", inputs)} < ACTION[
        "inputs"
    ].keys()
