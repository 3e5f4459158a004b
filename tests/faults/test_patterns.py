"""Patterns that a backtracking matcher would never finish, where a user or a repository can put them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import make_tree, run_cli

from satchel import Engine
from satchel.globs import LONGEST_PATTERN
from satchel.walking.ignore_rules import MOST_WILD_CHARS

ENDLESS = "**?" * 40 + "z"
ONE_FOLDER_ENDLESS = "*?" * 40 + "z"
LONG = "a" * 120
SECONDS = 20  # of a busy machine; it takes one


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {f"src/{LONG}{number}.py": f"def basket_{number}(): pass\n" for number in range(3)}
    return make_tree(tmp_path / "shop", files)


@pytest.fixture(autouse=True)
def _soon() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize("flag", ["--pattern", "--include", "--exclude"])
@pytest.mark.parametrize("pattern", [ENDLESS, ONE_FOLDER_ENDLESS])
def test_the_command_line_answers(root: Path, flag: str, pattern: str) -> None:
    done = run_cli("search", "basket", flag, pattern, "-s", root, "--json")
    assert done.returncode == 0
    assert bool(json.loads(done.stdout)["hits"]) is (flag == "--exclude")


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".satchelignore", "satchel.toml"])
def test_an_ignore_file_of_the_repository_is_read(root: Path, name: str) -> None:
    lines = ["*.py", ENDLESS, ONE_FOLDER_ENDLESS, "!" + ONE_FOLDER_ENDLESS, f"!{LONG}1.py"]
    (root / name).write_text(f"ignore = {json.dumps(lines)}" if "toml" in name else "\n".join(lines))
    with Engine.open(root) as engine:
        engine.refresh()
        assert [record.path for record in engine.snapshot().files() if "src" in record.path] == [
            f"src/{LONG}1.py"
        ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a" * (LONGEST_PATTERN + 1), f"1 pattern of more than {LONGEST_PATTERN} characters left out"),
        (
            "\n".join(["?" * 900] * (MOST_WILD_CHARS // 900 + 2)),
            f"2 patterns beyond {MOST_WILD_CHARS} characters of patterns with wildcards left out",
        ),
        ("#" * (1 << 20), "a .satchelignore of more than 1048576 bytes left out"),
    ],
)
def test_what_is_left_out_of_an_ignore_file_is_said_every_time(root: Path, line: str, said: str) -> None:
    (root / "src" / ".satchelignore").write_text(f"{LONG}0.py\n{line}\n")
    for _ in range(3):
        done = run_cli("index", "-s", root, "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout)["notes"] == [f".ignore and .satchelignore in src/: {said}"]
    kept = json.loads(run_cli("search", "basket", "-s", root, "--json").stdout)["hits"]
    assert len(kept) == (3 if "bytes" in said else 2)
