"""Commits that change tests, documents or settings alone become questions that ask for these."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from builders import git, git_repo, make_tree

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "quality" / "other_kinds.py"
FIRST = {
    "src/till.py": "a = 1\n",
    "tests/test_till.py": "a = 1\n",
    "docs/till.md": "# A\n",
    "docs/drawer.md": "# A\n",
    "CHANGELOG.md": "# A\n",
    "setup.cfg": "[a]\n",
}
LATER = [
    ("Tests of the till wait for the drawer (#7)\n\nThey failed now and then, because it opens slowly.\n\n"
     "Signed-off-by: A <a@example.com>", {"tests/test_till.py": "a = 2\n"}),
    ("Say how the till is opened", {"docs/till.md": "# B\n", "docs/drawer.md": "# B\n"}),
    ("Settings of the till for checks", {"setup.cfg": "[b]\n"}),
    ("The till opens once more", {"src/till.py": "a = 2\n"}),
    ("The till and its tests change", {"src/till.py": "a = 3\n", "tests/test_till.py": "a = 3\n"}),
    ("Say what is new in it", {"CHANGELOG.md": "# B\n"}),
    ("Fix a typo in the till's page", {"docs/till.md": "# C\n"}),
    ("Drawers have a page of their own", {"docs/new.md": "# A\n"}),
    ("The new page has a title", {"docs/new.md": "# B\n"}),
]  # fmt: skip


def test_each_kind_is_asked_for_by_the_messages_of_its_commits(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "mirror" / "Owner+shop" / "repo", FIRST)
    start = git(root, "rev-parse", "HEAD").strip()
    for message, files in LATER:
        make_tree(root, files)
        git(root, "add", "-A", ".")
        git(root, "commit", "-q", "-m", message)
    asked = tmp_path / "asked.jsonl"
    asked.write_text(2 * (json.dumps({"source": "owner/shop", "commit": start}) + "\n"))
    places = ["--mirror", str(root.parents[1]), "--queries", str(asked), "--out", str(tmp_path / "out.jsonl")]
    subprocess.run([sys.executable, str(SCRIPT), *places], check=True)
    found = list(map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines()))
    assert [(each["set"], each["query"], [gold["path"] for gold in each["gold"]]) for each in found] == [
        ("short_tests", "Tests of the till wait for the drawer", ["tests/test_till.py"]),
        (
            "report_tests",
            "Tests of the till wait for the drawer\n\nThey failed now and then, because it opens slowly.",
            ["tests/test_till.py"],
        ),
        ("short_documents", "Say how the till is opened", ["docs/drawer.md", "docs/till.md"]),
        ("short_settings", "Settings of the till for checks", ["setup.cfg"]),
    ]
    assert {each["commit"] for each in found} == {start}
