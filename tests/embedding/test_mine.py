"""Word vectors are trained on what a repository says of its code, and on nothing that is forbidden."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from builders import git_repo

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "embedding" / "mine.py"
TILL = '''def close_till(drawer, coins):
    """Count the coins of the drawer at the end of the day."""
    total = sum(coins)
    drawer.note(total, kind="evening", till=drawer.number)
    drawer.lock(total)
    return total
'''


def test_a_repository_gives_pairs_without_copies_of_forbidden_ones(tmp_path: Path) -> None:
    files = {"src/till.py": TILL, "src/flask/till.py": TILL.replace("coins", "pennies")}
    git_repo(tmp_path / "mirror" / "owner+shop" / "repo", files)
    names = tmp_path / "names.txt"
    names.write_text("owner/shop\nowner/absent\n")
    command = [sys.executable, str(SCRIPT), str(tmp_path / "cache"), str(tmp_path / "pairs")]
    options = ["--mirror", str(tmp_path / "mirror"), "--names", str(names)]
    for told in ("{'mined': 1, 'cannot be had': 1}\n", "{'mined before': 1, 'cannot be had': 1}\n"):
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        assert done.stdout == told, done.stderr
    (pairs,) = (tmp_path / "pairs").iterdir()
    assert pairs.name == "git+owner+shop.tsv"
    said = [line.split("\t")[:3] for line in pairs.read_text().splitlines()]
    assert ["doc", "python", "count the coin of draw at end day"] in said
    assert "penni" not in pairs.read_text()


def test_a_fix_gives_a_pair_of_its_report_and_the_definition_it_changed(tmp_path: Path) -> None:
    pair = {"query": "Coins are lost at night", "name": "close_till", "code": TILL, "language": "python"}
    (tmp_path / "fixes").mkdir()
    lines = (json.dumps(pair), json.dumps({**pair, "code": "x"}))  # the second says too little
    (tmp_path / "fixes" / "owner__shop.jsonl").write_text("\n".join(lines) + "\n")
    script = SCRIPT.with_name("fix_pairs.py")
    command = [sys.executable, str(script), str(tmp_path / "fixes"), str(tmp_path / "pairs")]
    subprocess.run(command, check=True)
    (line,) = (tmp_path / "pairs" / "fix+owner+shop.tsv").read_text().splitlines()
    kind, language, said, about = line.split("\t")
    assert (kind, language, said) == ("fix", "python", "coin are lost at night")
    assert {"till:3", "coin:3", "lock:1"} <= set(about.split())
