"""The benchmark of warm questions keeps a block for each folder and says whether its bars hold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(folder: Path, out: Path, limit: str) -> int:
    command = [sys.executable, ROOT / "benchmarks" / "search_speed.py", folder, "--alone", "--rounds", "1"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    options = ["--limit-ms", limit, "--out", out, "--index", folder.with_suffix(".index")]
    return subprocess.run([*command, *options], env=environment, capture_output=True).returncode


def test_each_folder_keeps_one_block_and_a_missed_bar_is_an_error(tmp_path: Path) -> None:
    out = tmp_path / "results.txt"
    for name in ("one", "two"):
        shutil.copytree(ROOT / "examples" / "shop", tmp_path / name)
        assert run(tmp_path / name, out, "60000") == 0
    assert run(tmp_path / "one", out, "0") == 1
    first, second = out.read_text().split("\n\n")
    assert first.startswith("one, 15 questions") and "FAIL" in first
    assert second.startswith("two, 15 questions") and "pass" in second
    assert all("asked for the first time" in block for block in (first, second))
