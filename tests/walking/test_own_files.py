"""Index folders hold files of ours and documents of the user: the first are left out, the second are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import SHOP, age, git, git_repo, make_tree, run_cli

from satchel import Engine
from satchel.indexing import plan
from satchel.walking.own_output import GITIGNORE, is_own_path

NOTES = {"_ctx/agent.md": "# Agent\n\nThe okapi protocol.\n", "_ctx/notes/session.md": "# Session\n\nzebra\n"}


def paths(root: Path, **settings: object) -> set[str]:
    with Engine.open(root, **settings) as engine:  # type: ignore[arg-type]
        engine.ensure_fresh()
        return {record.path for record in engine.snapshot().files()}


@pytest.fixture(params=["git", "plain"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    make = git_repo if request.param == "git" else make_tree
    return age(make(tmp_path / "kept", {**SHOP, **NOTES}))


@pytest.mark.parametrize("file", sorted(NOTES))
def test_documents_beside_the_index_are_found(kept: Path, file: str) -> None:
    word = NOTES[file].split()[-2 if "agent" in file else -1]
    done = run_cli("search", word, "--segment", kept, "--json")
    assert json.loads(done.stdout)["hits"][0]["path"] == file


def test_git_sees_the_documents_of_the_user_and_nothing_of_ours(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    make_tree(root, NOTES)
    environment = {"SATCHEL_QUERY_LOG": "1"}
    for words in (
        ("build",),
        ("search", "basket"),
        ("search", "basket"),
        ("pack", "basket", "--ref", "HEAD"),
    ):
        assert run_cli(*words, "--segment", root, environment=environment).returncode == 0
    assert run_cli("eval", "--history", "1", "--segment", root).returncode in (0, 2, 3)
    ours = {path.name for path in (root / "_ctx").iterdir()} - {"agent.md", "notes"}
    assert ours >= {"context.db", "context_pack.json", "refs", "queries.jsonl", ".gitignore"}
    seen = git(root, "status", "--short", "--untracked-files=all").split("\n")
    assert sorted(filter(None, seen)) == ["?? _ctx/agent.md", "?? _ctx/notes/session.md"]


@pytest.mark.parametrize("indexed", [True, False])
def test_the_ignore_file_of_an_earlier_version_is_replaced(
    kept: Path, indexed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if indexed:
        with monkeypatch.context() as earlier:
            earlier.setattr(plan, "INDEX_VERSION", 10)
            paths(kept)
    (kept / "_ctx/.gitignore").write_text("*\n")
    make_tree(kept, {"_ctx/late.md": "# Late\n"})
    assert paths(kept) >= {*NOTES, "_ctx/late.md"}
    assert (kept / "_ctx/.gitignore").read_bytes() == GITIGNORE


def test_the_ignore_file_of_a_user_stays(kept: Path) -> None:
    (kept / "_ctx/.gitignore").write_text("*.tmp\n")
    paths(kept)
    assert (kept / "_ctx/.gitignore").read_text() == "*.tmp\n"


@pytest.mark.parametrize("folder", ["", "index", "docs"])
def test_what_we_write_is_never_a_source(kept: Path, folder: str) -> None:
    flags = ("--segment", kept, *(("--index-dir", kept / folder) if folder else ()))
    before = None
    for _ in range(3):
        assert run_cli("build", "--scope", "all", *flags).returncode == 0
        pack = json.loads((kept / (folder or "_ctx") / "context_pack.json").read_bytes())
        found = {source["path"] for source in pack["source_files"]}
        assert before in (None, found) and found >= set(NOTES)
        assert not [path for path in found if "context" in path or path.endswith((".db", ".lock", ".walk"))]
        before = found
    assert before is not None and "docs/guide.md" in before  # also where the index lies beside it


def test_status_tells_what_of_ours_is_left_out(kept: Path) -> None:
    assert run_cli("build", "--segment", kept).returncode == 0
    told = json.loads(run_cli("status", "--skipped", "--segment", kept, "--json").stdout)["skipped"]
    ours = {
        item["path"]: (item["reason"], item["detail"]) for item in told if item["path"].startswith("_ctx")
    }
    wanted = ("generated", "written by Satchel")
    assert ours == {"_ctx/context.db": wanted, "_ctx/context_pack.json": wanted}


def test_documents_beside_the_index_that_the_user_ignores_are_said_to_be(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "shop", {**SHOP, ".gitignore": "_ctx/\n"})
    make_tree(root, NOTES)
    assert not paths(root) & set(NOTES)
    told = json.loads(run_cli("status", "--skipped", "--segment", root, "--json").stdout)["skipped"]
    assert ("_ctx", "ignored") in {(item["path"], item["reason"]) for item in told}


def test_an_edit_beside_the_index_makes_it_stale(kept: Path) -> None:
    with Engine.open(kept) as engine:
        engine.refresh()
        assert not engine.state().stale
        make_tree(kept, {"_ctx/context_pack.json": "{}\n"})
        assert not engine.state().stale
        (kept / "_ctx/agent.md").write_text("# Agent\n\nThe okapi protocol, changed.\n")
        assert engine.state().stale


@pytest.mark.parametrize(
    ("path", "index_folder", "own"),
    [
        ("_ctx/context.db", "", True),
        ("_ctx/context.db-wal", "", True),
        ("sub/_ctx/context_pack.json", "", True),
        ("_ctx/refs/0123.db", "", True),
        ("_ctx/agent.md", "", False),
        ("_ctx/notes/context.db", "", False),
        ("docs/context.db", "", False),
        ("docs/context.db", "docs", True),
        ("context.db", ".", True),
        ("src/refs/a.py", ".", False),
    ],
)
def test_our_files_are_known_by_name_and_folder(path: str, index_folder: str, own: bool) -> None:
    assert is_own_path(path, index_folder) is own


LIKE_OURS = ("settle-notes.md", "context.walkthrough.md", "context.db.md", "queries.jsonl.md", "eval.dbx.md")


@pytest.mark.parametrize("name", LIKE_OURS)
def test_a_document_whose_name_begins_as_one_of_ours_is_the_users(tmp_path: Path, name: str) -> None:
    root = git_repo(tmp_path / "shop", {**SHOP, f"_ctx/{name}": "# Okapi\n"})
    (root / "_ctx" / f"new-{name}").write_text("# Zebra\n")
    (root / "_ctx" / name).write_text("# Okapi\n\nagain\n")
    assert f"_ctx/{name}" in paths(root)
    git(root, "rm", "-q", "--cached", f"_ctx/{name}")
    assert f"?? _ctx/{name}" in git(root, "status", "--short", "--untracked-files=all")


def test_git_does_not_see_the_pack_of_an_index_that_is_kept_elsewhere(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    assert run_cli("build", "--index-dir", "memory:", "--segment", root).returncode == 0
    assert (root / "_ctx" / "context_pack.json").is_file()
    assert git(root, "status", "--short", "--untracked-files=all").strip() == ""


@pytest.mark.parametrize("folder", [".", "kept"])
def test_an_index_beside_an_ignore_file_of_the_user_is_fresh(tmp_path: Path, folder: str) -> None:
    root = git_repo(tmp_path / "shop", {**SHOP, ".gitignore": "drafts\n", "kept/.gitignore": "drafts\n"})
    place = ("--segment", root, "--index-dir", root / folder)
    assert run_cli("search", "basket", *place).returncode == 0
    assert json.loads(run_cli("status", "--json", *place).stdout)["stale"] is False
    assert (root / folder / ".gitignore").read_text() == "drafts\n"
