"""The help of the command line lists every command by what it is for, and knows what a misspelled one means."""

from __future__ import annotations

import json
import re

import pytest

from satchel import plugins
from satchel.commands.command import Group
from satchel.serving.cli import main

WORDS = sorted({*plugins.names("command"), *plugins.names("verb")})


@pytest.fixture
def overview(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["--help"]) == 0
    return capsys.readouterr().out


def test_every_command_stands_in_one_group(overview: str) -> None:
    listed = re.findall(r"^  (\w+) {2,}[A-Z]", overview, re.MULTILINE)
    assert sorted(listed) == WORDS
    titles = re.findall(r"^([A-Z][\w ]+):$", overview, re.MULTILINE)
    assert titles == [group.value for group in Group]


def test_a_command_is_told_in_a_whole_sentence(overview: str) -> None:
    body = overview.partition("Ask a question:\n")[2].partition("`satchel COMMAND")[0]
    entries = re.split(r"^  (?=\w)|^\S.*:\n", body, flags=re.MULTILINE)
    sentences = [" ".join(entry.split()) for entry in entries if entry.strip()]
    assert len(sentences) == len(WORDS) and all(sentence.endswith(".") for sentence in sentences)
    assert max(map(len, overview.splitlines())) <= 100


def test_no_arguments_are_a_question_for_help(overview: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0 and capsys.readouterr().out == overview
    for words in (["-h"], ["help"]):
        assert main(words) == 0 and capsys.readouterr().out == overview


@pytest.mark.parametrize(
    ("written", "meant"),
    [("serch", "search"), ("context-pack", "context_pack"), ("instal", "install"), ("symbol", "symbols")],
)
def test_a_misspelled_command_is_answered_with_the_one_meant(
    written: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([written, "x"]) == 2
    error = capsys.readouterr().err
    assert f"unknown command {written!r}" in error
    assert error.partition("did you mean ")[2].startswith(meant) and "satchel --help" in error


def test_help_of_one_command_can_be_asked_for_in_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for words in (["help", "search"], ["search", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] and shown[0].startswith("usage: satchel search")


def test_what_is_like_no_command_is_answered_with_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zzzz"]) == 2
    assert ", ".join(WORDS) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["search", "x", "--limt", "3"], "--limit"),
        (["pack", "x", "--buget-tokens=300"], "--budget-tokens"),
        (["serve", "http", "--prot", "1"], "--port"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_misspelled_flag_is_answered_with_the_one_meant(
    arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "invalid_request"
    assert error["hint"] == f"did you mean {meant}? satchel {arguments[0]} --help"


@pytest.mark.parametrize(
    ("arguments", "owners"),
    [(["pack", "x", "--html", "f"], "view"), (["search", "x", "--against=a"], "runs")],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_flag_of_another_command_is_answered_with_that_command(
    arguments: list[str], owners: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json"]) == 2
    hint = json.loads(capsys.readouterr().out)["error"]["hint"]
    flag = arguments[2].partition("=")[0]
    taken = hint.partition(f"{flag} is taken by ")[2].partition(";")[0]
    assert owners in taken.split(", ") and hint.endswith(f"satchel {arguments[0]} --help")


def test_what_is_like_no_flag_is_answered_with_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "x", "--zzzzzz"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].strip() == "satchel search --help"


def test_a_flag_before_the_command_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--segment", ".", "search", "x"]) == 2
    assert "--segment stands before the command" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (["pack", "x", "--mode", "edit"], "--mode is 'edit', it must be full or edit_minimal", ""),
        (
            ["get", "a.py", "--mode", "skelton"],
            "--mode is 'skelton', it must be raw, excerpt or skeleton",
            "skeleton",
        ),
        (
            ["files", "--sort", "lins"],
            "--sort is 'lins', it must be path, bytes, lines, used_by or changes",
            "lines",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_value_that_a_flag_does_not_take_is_answered_with_those_it_takes(
    arguments: list[str], said: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    meant = f"did you mean {hint}? " if hint else ""
    assert (error["message"], error["hint"]) == (said, f"{meant}satchel {arguments[0]} --help")


def test_the_help_of_a_command_shows_its_own_flags_before_those_that_many_have(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["pack", "--help"])
    shown = capsys.readouterr().out
    assert shown.startswith("usage: satchel pack [QUERY] [options]\n")
    titles = re.findall(r"^([a-z ]+):$", shown, re.MULTILINE)
    assert titles == ["positional arguments", "options", "filters", "every command"]
    assert shown.index("--budget-tokens") < shown.index("filters:") < shown.index("--path-prefix")
