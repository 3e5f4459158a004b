"""Bad requests for packs are typed errors with their exit code, in text and as JSON, and write nothing."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from builders import SHOP, age, git_repo, make_tree, memory_engine, run_cli, session_of

from satchel.commands.build_context_pack import BuildContextPackRequest
from satchel.commands.build_context_pack import run as build_context_pack
from satchel.commands.context_pack import ContextPackRequest
from satchel.commands.context_pack import run as context_pack
from satchel.commands.pack import PackCommandRequest
from satchel.commands.pack import run as pack
from satchel.errors import SatchelError
from satchel.serving.cli import main

HUGE = str(2**63)
FORMATS = ("context", "markdown", "xml", "terminal", "json", "sections")
BUDGETS = [
    (command, flag, value, "invalid_budget")
    for command in ("pack", "context_pack", "build_context_pack")
    for flag in ("--budget-tokens", "--max-chars")
    for value in ("-1", "1", HUGE)
]
ZEROS = [
    ("pack", "--budget-tokens", "0", "invalid_budget"),
    ("pack", "--max-chars", "0", "invalid_budget"),
    ("context_pack", "--max-chars", "0", "invalid_budget"),
    ("build_context_pack", "--budget-tokens", "0", "invalid_budget"),
]
OTHERS = [
    ("pack", "--tokenizer", "gpt99", "unsupported"),
    ("context_pack", "--tokenizer", "gpt99", "unsupported"),
    ("build_context_pack", "--tokenizer", "gpt99", "unsupported"),
    ("pack", "--tokenizer", "nowhere/tokenizer.json", "config_error"),
    ("pack", "--format", "pdf", "unsupported"),
    ("pack", "--format", "../json", "unsupported"),
    ("pack", "--section-caps", "chapters=3", "invalid_request"),
    ("pack", "--section-caps", "tests=-1", "invalid_request"),
    ("pack", "--section-caps", "tests=many", "invalid_request"),
    ("pack", "--section-caps", "tests", "invalid_request"),
    ("build_context_pack", "--section-caps", f"tests={HUGE}", "invalid_request"),
    ("pack", "--mode", "everything", "invalid_request"),
    ("pack", "--max-candidates", "0", "invalid_request"),
    ("build_context_pack", "--max-candidates", "1001", "invalid_request"),
    ("context_pack", "--limit", "0", "invalid_request"),
    ("context_pack", "--limit", "101", "invalid_request"),
    ("context_pack", "--limit", HUGE, "invalid_request"),
    ("context_pack", "--max-related-per-primary", "-1", "invalid_request"),
    ("context_pack", "--strategy", "sideways", "invalid_request"),
    ("context_pack", "--related-mode", "all", "invalid_request"),
    ("pack", "--no-such-flag", "1", "invalid_request"),
    ("pack", "--ref", "no-such-branch", "ref_not_found"),
    ("pack", "--ref", "--output=stolen.txt", "invalid_request"),
    ("pack", "--ref=--output=stolen.txt", "", "ref_not_found"),
    ("context_pack", "--ref=-n1", "", "ref_not_found"),
    ("pack", "--diff", "no-such..branch", "ref_not_found"),
    ("pack", "--diff=--output=stolen.txt", "", "ref_not_found"),
]
EXITS = {"ref_not_found": 3, "config_error": 6}


@pytest.fixture(scope="module")
def shop() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield age(git_repo(Path(name).resolve() / "shop", SHOP))


def tree(root: Path) -> set[str]:
    paths = (path.relative_to(root) for path in root.rglob("*"))
    return {str(path) for path in paths if path.parts[0] not in ("_ctx", ".git")}


def code_of(shop: Path, capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, int]:
    """The error's code and the exit code; what else holds of every error is checked."""
    before = tree(shop)
    with chdir(shop):
        exit_code = main([*arguments, "--json"])
        found = json.loads(capfd.readouterr().out)
        assert found["status"] == "error" and found["error"]["message"] == found["message"] != ""
        assert set(found["error"]) == {"code", "message", "details", "hint", "next_actions"}
        assert main([*arguments]) == exit_code
    text = capfd.readouterr()
    assert text.out == "" and text.err.startswith("satchel: ") and "Traceback" not in text.err
    assert tree(shop) == before
    return found["error"]["code"], exit_code


@pytest.mark.parametrize(("command", "flag", "value", "code"), BUDGETS + ZEROS + OTHERS)
def test_a_bad_option_is_a_typed_error(
    shop: Path, capfd: pytest.CaptureFixture[str], command: str, flag: str, value: str, code: str
) -> None:
    given = [flag, value] if value else [flag]
    assert code_of(shop, capfd, command, "basket", *given) == (code, EXITS.get(code, 2))


@pytest.mark.parametrize("command", ["pack", "context_pack", "build_context_pack"])
@pytest.mark.parametrize(
    "query", ["", " \t\n", "\x1f\x1c", "x" * 1_000_000], ids=["no", "blank", "control", "1MB"]
)
def test_no_question_or_an_endless_one_is_a_typed_error(
    shop: Path, capfd: pytest.CaptureFixture[str], command: str, query: str
) -> None:
    assert code_of(shop, capfd, command, query) == ("invalid_query", 2)


@pytest.mark.parametrize(
    "given",
    [
        ("--diff", "HEAD~0..HEAD", "--ref", "HEAD"),
        ("--staged", "--changed"),
        ("--staged", "--ref", "HEAD"),
        ("--diff", "HEAD", "--changed"),
    ],
)
def test_what_excludes_each_other_is_said(
    shop: Path, capfd: pytest.CaptureFixture[str], given: tuple[str, ...]
) -> None:
    assert code_of(shop, capfd, "pack", "basket", *given) == ("invalid_request", 2)


@pytest.mark.parametrize(
    "given", [("--ref", "HEAD"), ("--diff", "HEAD~1..HEAD"), ("--changed",), ("--staged",)]
)
def test_a_ref_where_there_is_no_repository_is_a_typed_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], given: tuple[str, ...]
) -> None:
    found = code_of(make_tree(tmp_path, SHOP), capfd, "pack", "basket", *given)
    assert found in (("ref_not_found", 3), ("unsupported", 2))


def test_what_only_sections_have_is_refused_in_a_flat_pack(
    shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for given in (("--mode", "edit_minimal"), ("--section-caps", "tests=0"), ("--max-candidates", "5")):
        found = code_of(shop, capfd, "pack", "basket", "--format", "json", *given)
        assert found == ("invalid_request", 2)


@pytest.mark.parametrize("command", ["pack", "context_pack", "build_context_pack"])
def test_too_small_a_budget_names_the_least_that_works(shop: Path, command: str) -> None:
    for flag, name in (("--max-chars", "min_chars"), ("--budget-tokens", "min_tokens")):
        extra = ("--max-chars", "900000") if command == "context_pack" and name == "min_tokens" else ()
        asked = (command, "basket", "--segment", shop, "--json", *extra)
        failed = run_cli(*asked, flag, "5")
        error = json.loads(failed.stdout)["error"]
        assert failed.returncode == 2 and error["code"] == "invalid_budget"
        assert run_cli(*asked, flag, error["details"][name]).returncode == 0


@pytest.mark.parametrize(
    "query", ["💡", "\x01\x02", "\ud800", "basket \udcff", "\u202e\u200b", "%s {0} $(ls)"]
)
@pytest.mark.parametrize("format", FORMATS)
def test_odd_questions_are_answered_in_every_format(shop: Path, query: str, format: str) -> None:
    engine = memory_engine(shop)
    try:
        answer = pack(session_of(engine), PackCommandRequest(query=query, format=format))
        assert answer.document.encode() and answer.used_tokens <= 4000
        context_pack(session_of(engine), ContextPackRequest(query=query))
        build_context_pack(session_of(engine), BuildContextPackRequest(query=query))
    except SatchelError as error:
        assert error.code == "invalid_query"


def test_words_of_the_command_line_that_are_not_utf8_are_answered(shop: Path) -> None:
    for arguments in (("--json",), ("--format", "sections"), ("--format", "xml")):
        done = run_cli("pack", os.fsdecode(b"basket \xff\xfe"), "--segment", shop, *arguments)
        assert done.returncode == 0 and b"Traceback" not in done.stderr and done.stdout.decode()


@pytest.mark.parametrize("format", FORMATS)
def test_files_of_every_encoding_and_name_are_packed_or_left_out(tmp_path: Path, format: str) -> None:
    odd: dict[str, str | bytes] = {
        "invalid.py": b"basket = 1\n\xff\xfe\xfa basket\n\xc3\x28\n",
        "surrogate.md": b"\xff\xfe" + "# basket\n".encode("utf-16-le") + b"\x00\xd8\n\x00",
        "utf16.md": "# basket Größe\n".encode("utf-16"),
        "cesu.py": b"basket = '\xed\xa0\x80'\n",
        "mixed.py": b"basket = 1\r\nb = 2\rc = 3\nd\x0b\x0c\x85 basket\n",
        "late_nul.py": b"basket = 1\n" * 2000 + b"\0 = 2\n",
        "quote'\"` <&>.md": "# basket ]]>\n",
        "em\u202eoji💡.md": "# basket\n",
    }
    root = make_tree(tmp_path, odd)
    for name in (b"bytes\xff\xfe.md", b"new\nline.md"):
        (Path(os.fsdecode(os.fsencode(root) + b"/" + name))).write_bytes(b"# basket\n")
    engine = memory_engine(root)
    answer = pack(session_of(engine), PackCommandRequest(query="basket", format=format))
    assert answer.document.encode() and answer.items > 0
    skipped = {item.skipped.path for item in engine.snapshot().skipped()}
    assert {"bytes\\xff\\xfe.md", "new\\nline.md"} <= skipped
    assert {record.path for record in engine.snapshot().files()} | skipped >= set(odd)
