"""A command in a forked process does what it does in one from scratch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import SHOP, clean_environment, make_tree, run_cli
from command_processes import command_processes

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
WORDS = (
    ["search", "basket", "--json"],
    ["pack", "how is the total price made", "--format", "xml"],
    ["get", "no/such.md"],
    ["no-such-command"],
    ["verify", "-"],
    ["--version"],
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_tree(tmp_path_factory.mktemp("forked") / "shop", SHOP)
    assert run_cli("index", cwd=root).returncode == 0
    return root


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0])
def test_it_says_the_same_as_one_from_scratch(words: list[str], shop: Path) -> None:
    forked = command_processes().run(words, shop, clean_environment(), b"no pack")
    scratch = subprocess.run(
        [sys.executable, "-m", "satchel", *words],
        cwd=shop,
        env=clean_environment(),
        input=b"no pack",
        capture_output=True,
    )
    assert forked.returncode == scratch.returncode
    assert (forked.stdout, forked.stderr) == (scratch.stdout, scratch.stderr)


def test_one_process_leaves_nothing_to_the_next(shop: Path, tmp_path: Path) -> None:
    elsewhere = {"SATCHEL_HOME": str(tmp_path / "home")}
    assert run_cli("index", cwd=shop, environment=elsewhere).returncode == 0
    assert any((tmp_path / "home").iterdir())
    status = run_cli("status", "--json", cwd=shop).stdout.decode()
    assert str(tmp_path) not in status and b"basket" in run_cli("search", "basket", cwd=shop).stdout


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "PYTHONPATH", "LC_ALL"])
def test_what_the_start_of_python_decides_asks_for_a_process_from_scratch(name: str) -> None:
    processes = command_processes()
    assert processes.can_fork(clean_environment({"SATCHEL_HOME": os.sep}))
    assert not processes.can_fork(clean_environment({name: "1"}))
