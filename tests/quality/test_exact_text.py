"""The benchmark of messages and literals on small projects: the same questions each time, and all found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECTS = ROOT / "tests" / "quality" / "projects"


def rows(tmp_path: Path, name: str) -> list[str]:
    script, out = ROOT / "benchmarks" / "quality" / "exact_text.py", tmp_path / f"{name}.txt"
    command = [sys.executable, script, "--copies", PROJECTS, "--index", tmp_path / name, "--count", "25"]
    subprocess.run([*command, "--out", out], check=True, capture_output=True)
    return out.read_text().split("\n")


def test_every_message_of_the_small_projects_is_found(tmp_path: Path) -> None:
    first = rows(tmp_path, "one")
    assert first[0].startswith("all ") and "first hit 1.000  pack 1.000" in first[0]
    assert int(first[0].split()[2]) >= 10
    assert rows(tmp_path, "two") == first
