"""The figures of replayed fixes: how they are added up, and that README shows the ones that are kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from tasks.report import readme_tables, report, with_tables
from tasks.repositories import REPOSITORIES

from satchel.evaluation.metrics import DEFINITIONS
from satchel.evaluation.saved import VERSION, Saved, SavedLeftOut, SavedQuery

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "results" / "tasks.txt"


def fix(number: int, language: str, seen: str, *tokens: int | None) -> SavedQuery:
    """Return a replayed fix: which packs showed everything, and what the five policies cost."""
    scores = {name: float(flag) for name, flag in zip(DEFINITIONS, seen, strict=True)}
    spent = dict(zip(("pack", "next", "search", "ripgrep", "files"), tokens, strict=True))
    return SavedQuery("tasks", "", f"{number:012x}", "code", language, "q", (), (), scores, spent)


RUNS = {
    "one": Saved(
        VERSION,
        "tasks",
        "quality",
        "o200k",
        100,
        [
            fix(1, "go", "01111", 2000, 4000, 900, 1000, None),
            fix(2, "c", "00000", None, 9000, None, None, 7000),
        ],
        [SavedLeftOut("a", "no_fix", ""), SavedLeftOut("b", "merge", ""), SavedLeftOut("c", "no_fix", "")],
    ),
    "two": Saved(
        VERSION, "tasks", "quality", "o200k", 100, [fix(3, "go", "11111", 1000, 4000, None, 3000, 500)], []
    ),
}


def test_shares_medians_and_losses_are_added_up() -> None:
    text = report(RUNS)
    assert "from the history of 2 repositories" in text and "no_fix 2" in text and "merge 1" in text
    assert "3 fixes: every changed definition in the pack" in text
    assert any(line.split()[:2] == ["definitions@8000t", ".67"] for line in text.split("\n"))
    shares, policies = readme_tables(text)
    assert shares[2] == "| every changed definition is in it | 33 % | 67 % | 67 % | 67 % | 67 % |"
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in policies[2:]]
    assert [row[1:] for row in rows] == [
        ["67 %", "1,500 (of all: 2,000)", "1", "1"],
        ["100 %", "4,000 (of all: 4,000)", "1", "2"],
        ["33 %", "900 (of all: –)", "1", "1"],
        ["67 %", "2,000 (of all: 3,000)", "", ""],
        ["67 %", "3,750 (of all: 7,000)", "2", "1"],
    ]


def test_groups_stand_in_rows_and_fixes_in_lines() -> None:
    lines = report(RUNS).split("\n")
    (row,) = [line for line in lines if line.startswith("go ")]
    assert row.split()[:9] == ["go", "2", ".50", "1.00", "1.00", "1.00", "1.00", "1.00", "1,500"]
    (single,) = [line for line in lines if "000000000002" in line]
    assert single.split() == ["one", "000000000002", "c", "00000", "–", "9,000", "–", "–", "7,000"]


def test_tables_take_the_place_of_those_with_the_same_heads() -> None:
    shares, policies = readme_tables(report(RUNS))
    document = f"# A\n\n{shares[0]}\n|---|\n| old |\n\nBoth.\n\n{policies[0]}\n|---|"
    expected = "\n".join(["# A", "", *shares, "", "Both.", "", *policies])
    assert with_tables(document, [shares, policies]) == expected
    with pytest.raises(ValueError, match="not in list"):
        with_tables("# A\n", [shares])


def test_readme_shows_the_figures_that_are_kept() -> None:
    tables = readme_tables(KEPT.read_text())
    readme = (ROOT / "README.md").read_text()
    assert [len(rows) for rows in tables] == [3, 7]
    assert all("\n".join(rows) in readme for rows in tables)


def test_no_repository_is_one_that_weights_or_vectors_were_made_with() -> None:
    names = {f"{each.owner}/{each.name}".lower() for each in REPOSITORIES}
    assert len(names) == len(REPOSITORIES) >= 12
    for listed in ("embedding/never_train_on.txt", "quality/repositories.txt"):
        used = (ROOT / "benchmarks" / listed).read_text().lower().split()
        assert names.isdisjoint(used)
