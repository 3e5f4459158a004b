"""`pack --diff`, `--staged`, `--changed`: true in every format, inside the budget, and nothing else happens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import git, git_repo, make_engine, make_tree, run_cli, session_of

from satchel import tokenizers
from satchel.commands import pack, verify
from satchel.commands.pack import PackCommandRequest, PackResponse
from satchel.commands.verify import VerifyRequest, VerifyResponse
from satchel.engine import Engine
from satchel.errors import InvalidBudget, InvalidRequest, RefNotFound
from satchel.verifying.verification import State

FORMATS = ("terminal", "context", "markdown", "xml", "json", "sections")
OLD = "def price(item):\n    return item.cost\n\n\ndef label(item):\n    return item.name\n"
NEW = OLD.replace("item.cost", "item.cost * 2").replace("item.name", "str(item)")
USER = "from shop.items import price\n\n\ndef total(items):\n    return sum(price(item) for item in items)\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose last commit changes, deletes and renames."""
    doomed = "def doomed():\n    return 1\n"
    base = git_repo(
        tmp_path / "shop",
        {"shop/items.py": OLD, "shop/cart.py": USER, "shop/doomed.py": doomed, "a b`c.md": "# Odd\n\nname\n"},
    )
    (base / "shop/doomed.py").unlink()
    git(base, "mv", "a b`c.md", "d e.md")
    return git_repo(base, {"shop/items.py": NEW})


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    with make_engine(root) as opened:
        opened.ensure_fresh()
        yield opened


def packed(engine: Engine, form: str = "context", diff: str = "HEAD~1..HEAD") -> PackResponse:
    return pack.run(session_of(engine), PackCommandRequest(diff=diff, format=form, budget_tokens=2000))


def verified(engine: Engine, document: str) -> VerifyResponse:
    return verify.run(session_of(engine), VerifyRequest(text=document))


@pytest.mark.parametrize("form", FORMATS)
def test_a_review_stays_true_when_the_work_tree_moves_on(engine: Engine, form: str) -> None:
    answer = packed(engine, form)
    git_repo(engine.root, {"shop/items.py": "changed = 1\n", "shop/cart.py": "changed = 2\n"})
    found = verified(engine, answer.document)
    assert found.ok and found.counts[State.TRUE.value] == answer.items >= 4


@pytest.mark.parametrize("form", FORMATS)
def test_a_review_of_the_work_tree_is_true_of_it_and_of_head(engine: Engine, form: str) -> None:
    make_tree(engine.root, {"shop/items.py": OLD, "shop/new.py": "def fresh():\n    return 1\n"})
    engine.ensure_fresh()
    answer = pack.run(session_of(engine), PackCommandRequest(changed=True, format=form, budget_tokens=2000))
    found = verified(engine, answer.document)
    assert found.ok and {item.ref == "" for item in found.items} == {True, False}


@pytest.mark.parametrize("form", FORMATS)
def test_a_review_of_what_is_staged_is_true_whatever_is_on_disk(engine: Engine, form: str) -> None:
    make_tree(engine.root, {"shop/items.py": OLD})
    git(engine.root, "add", "-A")
    make_tree(engine.root, {"shop/items.py": "elsewhere = 1\n"})
    answer = pack.run(session_of(engine), PackCommandRequest(staged=True, format=form, budget_tokens=2000))
    assert "elsewhere" not in answer.document and verified(engine, answer.document).ok


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_received_is_what_was_counted_and_fits(engine: Engine, form: str) -> None:
    for budget in (400, 700, 1500):
        answer = pack.run(
            session_of(engine), PackCommandRequest(diff="HEAD~1..HEAD", format=form, budget_tokens=budget)
        )
        assert tokenizers.get("o200k").count(answer.document) == answer.used_tokens <= budget
    answer = pack.run(
        session_of(engine), PackCommandRequest(diff="HEAD~1..HEAD", format=form, max_chars=2500)
    )
    assert len(answer.document) == answer.used_chars <= 2500


def test_a_budget_without_room_for_an_empty_review_is_an_error_that_names_the_least(engine: Engine) -> None:
    with pytest.raises(InvalidBudget) as caught:
        pack.run(
            session_of(engine), PackCommandRequest(diff="HEAD~1..HEAD", format="context", budget_tokens=5)
        )
    assert caught.value.details["min_tokens"] > 5


@pytest.mark.parametrize(
    "request_",
    [
        PackCommandRequest(diff="HEAD~1..HEAD", staged=True),
        PackCommandRequest(staged=True, changed=True),
        PackCommandRequest(changed=True, ref="HEAD"),
        PackCommandRequest(),
    ],
)
def test_what_names_no_single_thing_to_pack_is_an_error(engine: Engine, request_: PackCommandRequest) -> None:
    with pytest.raises(InvalidRequest):
        pack.run(session_of(engine), request_)


@pytest.mark.parametrize(
    "spec", ["nowhere..HEAD", "HEAD..nowhere", "HEAD~9..HEAD", "nowhere~1..HEAD", "--output=x"]
)
def test_a_side_that_cannot_be_read_is_a_typed_error(engine: Engine, spec: str) -> None:
    with pytest.raises(RefNotFound):
        packed(engine, diff=spec)


def test_a_shallow_clone_does_not_take_its_oldest_commit_for_the_first(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", root.as_uri(), str(tmp_path / "shallow"))
    with make_engine(tmp_path / "shallow") as shallow, pytest.raises(RefNotFound):
        packed(shallow)


def test_removed_lines_are_labelled_where_only_a_citation_line_tells(engine: Engine) -> None:
    head, old = (git(engine.root, "rev-parse", ref).strip() for ref in ("HEAD", "HEAD~1"))
    document = packed(engine).document
    assert f"{head[:12]}, " in document and f"@{old[:12]} (removed, 0 hops)" in document


def test_nothing_but_the_index_is_written(root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    for flags in (("--diff", "HEAD~1..HEAD"), ("--staged",), ("--changed",)):
        assert run_cli("pack", *flags, "--segment", root).returncode == 0
    after = {path: path.stat().st_mtime_ns for path in root.rglob("*") if "_ctx" not in path.parts}
    assert after == before


def test_a_hostile_configuration_runs_nothing_and_changes_no_answer(root: Path, tmp_path: Path) -> None:
    honest = run_cli("pack", "--diff", "HEAD~1..HEAD", "--segment", root).stdout
    marker, trap = tmp_path / "marker", tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat \"$@\"\n")
    trap.chmod(0o755)
    for key in ("diff.external", "core.fsmonitor", "core.pager", "diff.evil.textconv", "filter.evil.clean"):
        git(root, "config", key, str(trap))
    git(root, "config", "diff.renames", "false")
    (root / ".git/info/attributes").write_text("* diff=evil filter=evil\n")
    answer = run_cli("pack", "--diff", "HEAD~1..HEAD", "--segment", root)
    assert run_cli("pack", "--changed", "--segment", root).returncode == 0
    assert answer.stdout == honest and not marker.exists()


def test_the_command_line_reviews_a_question_and_says_an_error_as_json(root: Path) -> None:
    asked = run_cli("pack", "how is an item labelled", "--diff", "HEAD~1..HEAD", "--segment", root)
    assert asked.stdout.decode().index("label") < asked.stdout.decode().index("price")
    failed = run_cli("pack", "--diff", "nowhere..HEAD", "--json", "--segment", root)
    assert failed.returncode and json.loads(failed.stdout)["error"]["code"] == "ref_not_found"
