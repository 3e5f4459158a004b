"""The manual pages are read by man itself, and say what the command line takes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from satchel.serving.cli import main
from satchel.serving.cli_flags import flags_of, make_parser
from satchel.serving.man_pages import man_pages
from satchel.serving.word_arguments import all_words

PAGES = man_pages()


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
def test_mandoc_has_nothing_to_complain_of(tmp_path: Path) -> None:
    for name, page in PAGES.items():
        (tmp_path / name).write_text(page)
    command = ["mandoc", "-Tlint", "-Wwarning", *sorted(PAGES)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    # A date would differ from day to day: the same version gives the same bytes.
    told = [line for line in result.stdout.splitlines() if "missing date" not in line]
    assert told == []


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
@pytest.mark.parametrize("name", ["satchel.1", "satchel-pack.1", "satchel-serve.1"])
def test_man_shows_a_page_without_a_warning(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(PAGES[name])
    command = ["man", "--warnings", "-E", "UTF-8", "-l", str(tmp_path / name)]
    variables = {"MANWIDTH": "100", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    result = subprocess.run(command, capture_output=True, text=True, env=variables)
    shown = re.sub(r".\x08", "", result.stdout)
    assert result.returncode == 0 and result.stderr == ""
    assert ("SYNOPSIS" in shown and "satchel COMMAND" in shown) or name != "satchel.1"


def test_every_word_has_a_page_with_all_its_flags() -> None:
    for word in all_words():
        page = PAGES[f"satchel-{word.name}.1"].replace("\\-", "-")
        assert [flag for flag in flags_of(make_parser(word)) if f"\\fB{flag}\\fR" not in page] == []
        assert f"satchel-{word.name}" in PAGES["satchel.1"].replace("\\-", "-")


def test_no_line_of_text_is_read_as_a_request() -> None:
    requests = {line.split()[0] for page in PAGES.values() for line in page.splitlines() if line[:1] in ".'"}
    assert requests <= {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".BR", ".I", ".nf", ".fi"}


def test_one_page_is_printed_and_all_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "search"]) == 0
    assert capsys.readouterr().out == PAGES["satchel-search.1"]
    assert main(["man", "--output", str(tmp_path / "man1")]) == 0
    assert {path.name: path.read_text() for path in (tmp_path / "man1").iterdir()} == PAGES


def test_what_cannot_be_shown_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "nothing"]) == 2 and "'nothing'" in capsys.readouterr().err
    assert main(["man", "search", "--output", "x"]) == 2
