"""The progress bar: its label, and when it is worth drawing."""

from __future__ import annotations

import pytest

from satchel.rendering.style import ProgressBar


def drawn(bar: ProgressBar, total: int, capsys: pytest.CaptureFixture[str]) -> str:
    for done in (0, total // 2, total):
        bar(done, total)
    return capsys.readouterr().err


def test_the_bar_says_what_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert "asking" in drawn(ProgressBar("asking"), 300, capsys)
    assert "indexing" in drawn(ProgressBar(), 300, capsys)


def test_a_few_steps_get_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    assert drawn(ProgressBar(), 20, capsys) == ""


def test_one_bar_can_be_used_for_one_work_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    bar = ProgressBar()
    assert "300/300" in drawn(bar, 300, capsys) and "400/400" in drawn(bar, 400, capsys)


def test_the_line_is_taken_away_when_the_work_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    lines = drawn(ProgressBar(), 300, capsys).split("\r")
    assert "150/300" in lines[1] or "0/300" in lines[1]
    assert lines[-2].isspace() and len(lines[-2]) >= len(lines[-3].rstrip()) and lines[-1] == ""
