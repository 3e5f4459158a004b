"""No surface sends a character that nobody sees: text formats write it out, JSON escapes it and keeps the text."""

from __future__ import annotations

import hashlib
import json
import sys
import unicodedata
from pathlib import Path

import pytest
from builders import git_repo, make_engine, run_cli, session_of
from hypothesis import given
from hypothesis import strategies as st

from satchel import tokenizers
from satchel.commands import verify
from satchel.visible_json import HIDDEN, compact, compact_bytes, indented

HIDING = "\u202e\u2066\u200b\u200d\x7f\x85\x9b31m\u2028\ufeff\u00ad\U000e0041"
TRAP = f"def trap():\n    # basket {HIDING} total\n    return 1\n"
NAME = "tr\u202eap.md"
FORMATS = ("terminal", "context", "json", "sections", "markdown", "xml")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"trap.py": TRAP, "traps.md": f"# Trap {HIDING}\n\nThe basket {HIDING} total.\n"}
    if sys.platform != "win32":
        files[NAME] = "# basket total\n"
    return git_repo(tmp_path_factory.mktemp("hidden"), files)


def hidden(data: bytes) -> list[str]:
    """What nobody sees in an output: by our table, and of each Unicode category that has no shape."""
    text = data.decode()
    shapeless = [
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\t\n"
    ]
    return HIDDEN.findall(text) + shapeless


@pytest.mark.parametrize("format", FORMATS)
def test_a_pack_hides_nothing_and_can_be_verified(root: Path, tmp_path: Path, format: str) -> None:
    done = run_cli("pack", "basket total trap", "-s", root, "--format", format)
    assert done.returncode == 0 and not hidden(done.stdout) and b"trap.py" in done.stdout
    saved = tmp_path / "pack"
    saved.write_bytes(done.stdout)
    checked = run_cli("verify", saved, "-s", root, "--json")
    assert checked.returncode == 0 and not hidden(checked.stdout)


@pytest.mark.parametrize(
    "words",
    [
        ("search", "basket total"),
        ("search", f"basket {HIDING}"),
        ("get", "trap.py"),
        ("get", "nothing\u202e.py"),
        ("symbols", "trap"),
        ("refs", "trap\u200b"),
        ("map",),
        ("prompt",),
        ("context_pack", "basket total"),
        ("build_context_pack", "basket total"),
        ("status", "--skipped"),
    ],
)
def test_the_json_of_a_command_hides_nothing(root: Path, words: tuple[str, ...]) -> None:
    done = run_cli(*words, "-s", root, "--json")
    assert json.loads(done.stdout) and not hidden(done.stdout) and not hidden(done.stderr)


@pytest.mark.parametrize(("format", "list_of"), [("json", "items"), ("sections", "definitions")])
def test_an_escape_is_read_back_as_the_text_that_was_cited(root: Path, format: str, list_of: str) -> None:
    document = run_cli("pack", "trap basket", "-s", root, "--format", format).stdout.decode()
    data = json.loads(document)
    items = data["items"] if format == "json" else data["sections"][list_of]
    found = next(item for item in items if "def trap" in item["content"])
    assert found["content"] == TRAP
    assert found["content_hash"] == hashlib.sha256(TRAP.encode()).hexdigest()


def test_what_is_counted_is_the_escape_that_is_received(root: Path) -> None:
    words = ("pack", "trap basket total", "-s", root, "--format", "json")
    document = run_cli(*words, "--max-chars", "3000", "--budget-tokens", "900").stdout.decode()
    budget = json.loads(document)["budget"]
    assert "\\u202e" in document
    assert budget["used_chars"] == len(document) <= 3000
    assert budget["used_tokens"] == tokenizers.get("o200k").count(document) <= 900


def test_the_three_layers_hide_nothing_and_hold(root: Path) -> None:
    assert run_cli("build", "-s", root, "--scope", "all").returncode == 0
    written = (root / "_ctx" / "context_pack.json").read_bytes()
    assert not hidden(written) and b"\\u202e" in written
    assert run_cli("validate", "-s", root).returncode == 0


def test_an_envelope_counts_what_it_carries(root: Path) -> None:
    request = {"action": "context_pack", "payload": {"query": "trap basket", "project": str(root)}}
    done = run_cli("command", "--json", json.dumps(request))
    assert not hidden(done.stdout)
    data = json.loads(done.stdout)["data"]
    assert "\u202e" in json.dumps(data, ensure_ascii=False) and compact(data) in done.stdout.decode()
    assert data["budget"]["used_chars"] == len(compact(data))


def test_a_refreshed_pack_hides_nothing(tmp_path: Path, root: Path) -> None:
    document = run_cli("pack", "trap basket", "-s", root, "--format", "json", "--max-chars", "4000").stdout
    with make_engine(root) as engine:
        engine.refresh()
        told = verify.run(session_of(engine), verify.VerifyRequest(text=document.decode(), refresh=True))
    assert told.refreshed == document.decode()


@given(st.text(max_size=40))
def test_json_is_read_back_whatever_it_held(text: str) -> None:
    written = compact({"a": text})
    assert json.loads(written) == {"a": text} == json.loads(indented({"a": text}, 2))
    assert not HIDDEN.search(written) and compact_bytes({"a": text}) == written.encode()
