"""What the documents show is what happens: every example is run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from builders import run_cli

from satchel import plugins
from satchel.serving.generated_files import command_pages

ROOT = Path(__file__).parent.parent
COMMANDS = ROOT / "docs" / "commands"
BLOCK = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(kind: str) -> list[str]:
    return [text for path in DOCUMENTS for _, found, text in BLOCK.findall(path.read_text()) if found == kind]


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("_ctx"))
    return tmp_path


@pytest.mark.parametrize("block", blocks("console"))
def test_a_console_example_prints_what_is_shown(block: str, workplace: Path) -> None:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        program, *words = shlex.split(command)
        assert program == "satchel"
        result = run_cli(*words, cwd=workplace / "examples" / "shop")
        assert result.stdout.decode().rstrip("\n") == shown.rstrip("\n"), result.stderr


@pytest.mark.parametrize("block", blocks("python"))
def test_a_python_example_runs(block: str, workplace: Path) -> None:
    result = subprocess.run([sys.executable, "-c", block], cwd=workplace, capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout, result.stderr


@pytest.fixture
def repository(workplace: Path) -> Path:
    """The shop as a repository with two commits on `main`, beside which `satchel` and `git` can be called."""
    shop = workplace / "examples" / "shop"
    path = shop / "shop" / "basket.py"
    for message, text in (
        ("The shop opens", ""),
        ("A basket is explained", "\n# A basket is never empty twice.\n"),
    ):
        path.write_text(path.read_text() + text)
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", message]):
            subprocess.run(["git", *IDENTITY, *words], cwd=shop, check=True, capture_output=True)
    program = workplace / "programs" / "satchel"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m satchel "$@"\n')
    program.chmod(0o755)
    return shop


IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("block", blocks("bash"))
def test_a_shell_example_runs_to_its_end(block: str, repository: Path, workplace: Path) -> None:
    variables = {
        **os.environ,
        "PATH": f"{workplace / 'programs'}{os.pathsep}{os.environ['PATH']}",
        **{
            f"GIT_{who}_{what}": "a@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    command = ["bash", "-euo", "pipefail", "-c", block]
    result = subprocess.run(command, cwd=repository, env=variables, capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout, result.stderr


def test_every_word_of_the_command_line_has_its_page(update_golden: bool) -> None:
    if update_golden:
        COMMANDS.mkdir(exist_ok=True)
        for name, page in command_pages().items():
            (COMMANDS / name).write_text(page)
    assert {path.name: path.read_text() for path in COMMANDS.iterdir()} == command_pages()


@pytest.mark.parametrize(
    "path", [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))], ids=lambda path: path.name
)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_files_that_the_documents_name_are_there() -> None:
    """A page that leads to a file leads to it after the file was renamed, too."""
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        if path.name == "CHANGELOG.md":
            continue
        named = re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./-]+)`", path.read_text())
        assert [name for name in named if "NAME" not in name and not (ROOT / name).exists()] == [], path.name


def test_every_signal_that_a_score_may_show_is_explained() -> None:
    page = (ROOT / "docs" / "ranking.md").read_text()
    names = [name for group in plugins.names("signal") for name in plugins.load("signal", group).signals]
    assert len(names) > 40 and [name for name in names if f"`{name}`" not in page] == []


def test_every_variable_that_is_read_is_told() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    code = "".join(path.read_text() for path in (ROOT / "src" / "satchel").rglob("*.py"))
    named = sorted(set(re.findall(r"\bSATCHEL_[A-Z_]+\b", code)))
    assert len(named) > 5 and [name for name in named if f"`{name}`" not in page] == []


def cells(path: str, row: str) -> list[str]:
    """The figures of one row of a kept result."""
    lines = (ROOT / "benchmarks" / path).read_text().splitlines()
    return next(
        line.removeprefix(row).split() for line in lines if re.match(rf"{re.escape(row)} +[\d.]", line)
    )


def test_the_comparison_states_the_figures_that_are_kept() -> None:
    """A result that is measured anew is told anew: the page is compared with the texts of the benchmarks."""
    page = (ROOT / "docs" / "comparison.md").read_text()
    ranked = [cells("quality/quality.txt", row)[1] for row in ("satchel", "satchel --profile fast")]
    assert [figure for figure in ranked if figure.removeprefix("0") not in page] == []
    cold, search = (
        cells("results/index_speed.txt", f"satchel {row}") for row in ("index (cold)", "search (CLI)")
    )
    assert f"| **Satchel** | {float(cold[0]):.1f} | {cold[2]} MB |" in page
    assert f"| {float(search[0]):.2f} |" in page
    warm, first = (
        cells("results/search_speed.txt", f"satchel, {row}") for row in ("warm", "asked for the first time")
    )
    assert (
        f"asked before | {warm[1]} | {warm[2]} |" in page
        and f"first time | {first[1]} | {first[2]} |" in page
    )
    tasks = (ROOT / "benchmarks" / "results" / "tasks.txt").read_text()
    seen, tokens = re.findall(
        r"^\| one pack, as large as needed \| (\d+ %) \| ([\d,]+)", tasks, re.MULTILINE
    )[0]
    assert f"| one pack, as large as needed | {seen} | {tokens} |" in page


def test_the_tasks_of_a_newcomer_lead_to_one_file_each() -> None:
    page = (ROOT / "docs" / "finding-your-way.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("|") and "`src/" in line]
    assert len(rows) == 20 and all(row.count("`src/") == 1 for row in rows)
    for row in rows:  # the station that a newcomer would think of is the folder of the file
        _, _, station, file, _ = row.split("|")
        assert file.strip().startswith(f"`src/satchel/{station.strip().partition(':')[0]}/")
        assert (ROOT / file.split("`")[1]).is_file()
