"""A library: what is added, mirrored, synced, removed, and said when something is wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, Repository, age, git, git_repo, make_tree, run_cli

from satchel.errors import (
    ConfigError,
    IndexMissing,
    InvalidRequest,
    ProjectNotFound,
    RefNotFound,
    Unsupported,
)
from satchel.library.catalogue import RepositoryState, is_url, name_candidates, plain_url
from satchel.library.library import Library
from satchel.walking.git_mirror import update_mirror

TILL = {
    "README.md": "# Till\n\nOpens in the morning.\n",
    "till.py": "def open_drawer():\n    return 'open'\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    made = Library.open(str(tmp_path / "library"))
    assert made.catalogue.create()
    return made


def synced(library: Library, *names: str) -> dict[str, Any]:
    return {result.name: result for result in library.sync(names)}


def test_folders_are_asked_as_they_are_without_a_sync(library: Library, tmp_path: Path) -> None:
    shop, till = age(make_tree(tmp_path / "shop", SHOP)), age(make_tree(tmp_path / "till", TILL))
    assert [library.add(str(root)).name for root in (shop, till)] == ["shop", "till"]
    with library.engine() as engine:
        engine.ensure_fresh()
        assert engine.search("open_drawer")[0][0].path == "till/till.py"
        make_tree(till, {"till.py": "def open_other_drawer():\n    return 'open'\n"})
        engine.ensure_fresh()
        assert engine.search("open_other_drawer")[0][0].name == "open_other_drawer"
        assert engine.get("till/till.py:1:1").text == "def open_other_drawer():\n"


def test_a_folder_that_is_gone_ends_no_answer_about_the_others(library: Library, tmp_path: Path) -> None:
    shop, till = age(make_tree(tmp_path / "shop", SHOP)), age(make_tree(tmp_path / "till", TILL))
    for root in (shop, till):
        library.add(str(root))
    with library.engine() as engine:
        engine.ensure_fresh()
        shutil.rmtree(shop)
        for _ in range(2):
            engine = engine.for_caller()
            engine.ensure_fresh()
            assert engine.search("open_drawer")[0][0].path == "till/till.py"
            assert any(note.startswith("shop") for note in engine.notes)
            assert {record.path.partition("/")[0] for record in engine.snapshot().files()} == {"till"}


def test_a_mirror_is_asked_as_it_was_synced(library: Library, tmp_path: Path) -> None:
    origin = Repository(tmp_path / "till")
    first = origin.commit("The till", TILL)
    added = library.add(origin.root.as_uri(), groups=["net"])
    assert (added.name, added.refs, added.state) == ("till", ("HEAD",), RepositoryState.NEW)
    with library.engine() as engine, pytest.raises(IndexMissing):
        engine.search("drawer")
    assert synced(library)["till"].parsed == 2
    second = origin.commit("Another", {"till.py": "def close_drawer():\n    return 'closed'\n"})
    with library.engine() as engine:
        assert engine.search("open_drawer")[0][0].name == "open_drawer"
        assert engine.repository_ref("till/till.py").startswith(f"till@{first}")
    done = synced(library, "till")["till"]
    assert (done.parsed, done.kept) == (1, 1)
    with library.engine() as engine:
        assert engine.search("close_drawer")[0][0].name == "close_drawer"
        assert engine.repository_ref("till/till.py").startswith(f"till@{second}")
        with engine.at(f"till@{first}") as before:
            assert before.search("open_drawer")[0][0].path == "till/till.py"


def test_refs_of_a_folder_are_read_from_its_objects(library: Library, tmp_path: Path) -> None:
    root = Repository(tmp_path / "till")
    root.commit("The till", TILL)
    git(root.root, "tag", "v1")
    root.commit("Another", {"till.py": "def close_drawer():\n    return 'closed'\n"})
    library.add(str(root.root), refs=["v1", "main"])
    done = synced(library)["till"]
    assert set(done.commits) == {"v1", "main"}
    with library.engine() as engine:
        assert engine.search("open_drawer")[0] and not engine.symbols("close_drawer")
        with engine.at("till@main") as other:
            assert other.symbols("close_drawer")
    with pytest.raises(RefNotFound):
        library.add(str(root.root), name="gone", refs=["v9"])


def test_a_repository_without_a_work_tree_is_read_from_its_objects(library: Library, tmp_path: Path) -> None:
    root = git_repo(tmp_path / "till", TILL)
    git(tmp_path, "clone", "-q", "--bare", str(root), "till.git")
    assert library.add(str(tmp_path / "till.git")).refs == ("HEAD",)
    assert synced(library)["till"].parsed == 2


def test_names_are_unique_and_safe(library: Library, tmp_path: Path) -> None:
    for owner in ("ann", "bob", "cid"):
        make_tree(tmp_path / owner / "shop", TILL)
    assert library.add(str(tmp_path / "ann" / "shop")).name == "shop"
    assert library.add(str(tmp_path / "bob" / "shop")).name == "bob-shop"
    with pytest.raises(InvalidRequest, match="already, as shop"):
        library.add(str(tmp_path / "ann" / "shop"))
    with pytest.raises(InvalidRequest, match="a repository 'shop' already"):
        library.add(str(tmp_path / "cid" / "shop"), name="SHOP")
    for wrong in ("a/b", "..", "", "a b", "x" * 101, "@"):
        with pytest.raises(InvalidRequest):
            library.add(str(tmp_path / "cid" / "shop"), name=wrong or " ")
    with pytest.raises(ProjectNotFound):
        library.add(str(tmp_path / "nowhere"))
    names = name_candidates("git@example.org:team/Ünsafe name.git")
    assert [next(names) for _ in range(3)] == ["nsafe-name", "team-nsafe-name", "nsafe-name-2"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://me:secret@example.org/a/b.git", "https://example.org/a/b.git"),
        ("https://secret@example.org:8443/a/b?token=secret#secret", "https://example.org:8443/a/b"),
        ("ssh://git:secret@example.org/a/b", "ssh://git@example.org/a/b"),
        ("git@example.org:a/b.git", "git@example.org:a/b.git"),
    ],
)
def test_a_url_is_kept_without_credentials(given: str, kept: str) -> None:
    assert is_url(given) and plain_url(given) == kept


def test_no_credential_is_kept_or_told(tmp_path: Path) -> None:
    place = str(tmp_path / "books")
    run_cli("library", "init", "--library", place)
    url = "https://me:hunter2@127.0.0.1:9/a/b.git"
    said = [
        run_cli("library", *words, "--library", place, "--json")
        for words in (("add", url), ("sync",), ("list",))
    ]
    assert [done.returncode for done in said] == [0, 1, 0]
    assert b"could not be copied" in said[1].stdout
    everything = b"".join(done.stdout + done.stderr for done in said)
    kept = b"".join(path.read_bytes() for path in Path(place).rglob("*") if path.is_file())
    assert b"hunter2" not in everything + kept


def test_nothing_that_a_repository_names_is_run(library: Library, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    origin = Repository(tmp_path / "till")
    origin.commit(
        "The till",
        TILL
        | {
            ".gitattributes": "* filter=evil\n",
            ".gitmodules": f"[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c 'touch {canary}'\n",
        },
    )
    hook = origin.root / ".git" / "hooks" / "post-update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)
    git(origin.root, "config", "filter.evil.smudge", f"touch {canary}")
    library.add(origin.root.as_uri())
    assert synced(library)["till"].state is RepositoryState.READY
    assert not canary.exists()
    with pytest.raises(Unsupported, match="'ext'"):
        update_mirror(f"ext://sh -c 'touch {canary}'", tmp_path / "mirror")
    with pytest.raises(ConfigError):
        update_mirror("--upload-pack=touch canary", tmp_path / "mirror")
    assert not canary.exists() and not (tmp_path / "mirror" / "canary").exists()


def test_a_sync_that_fails_keeps_what_was_there_and_goes_on(library: Library, tmp_path: Path) -> None:
    for name in ("till", "shop"):
        library.add(git_repo(tmp_path / name, TILL).as_uri())
    assert all(result.state is RepositoryState.READY for result in synced(library).values())
    (tmp_path / "shop").rename(tmp_path / "moved")
    done = synced(library)
    assert (done["shop"].state, done["till"].state) == (RepositoryState.FAILED, RepositoryState.READY)
    with library.engine() as engine:
        assert len(engine.symbols("open_drawer")) == 2


def test_a_repository_that_cannot_be_asked_is_told(library: Library, tmp_path: Path) -> None:
    for name in ("till", "shop"):
        library.add(str(age(make_tree(tmp_path / name, TILL))))
    (tmp_path / "shop").rename(tmp_path / "moved")
    with library.engine() as engine:
        engine.ensure_fresh()
        assert len(engine.symbols("open_drawer")) == 1
        assert len(engine.notes) == 1 and engine.notes[0].startswith("shop is left out: ")


def test_an_index_of_another_version_is_not_mixed_in(library: Library, tmp_path: Path) -> None:
    for name in ("till", "shop"):
        library.add(git_repo(tmp_path / name, TILL).as_uri())
    synced(library)
    with library.engine() as engine, engine.members["shop"].source.store.write() as writer:
        writer.set_meta({"signature": "1.1 older-words ()"})
    with library.engine() as engine:
        assert [record.path for record in engine.symbols("open_drawer")] == ["till/till.py"]
        assert engine.notes == ("shop is left out: its index was written by another version of Satchel",)
    assert synced(library)["shop"].parsed == 2


def test_removing_leaves_folders_alone(library: Library, tmp_path: Path) -> None:
    till = make_tree(tmp_path / "till", TILL)
    library.add(str(till))
    library.add(git_repo(tmp_path / "shop", TILL).as_uri())
    synced(library)
    assert [one.name for one in library.remove(["shop", "till"])] == ["shop", "till"]
    assert library.repositories() == [] and (till / "till.py").exists() and (tmp_path / "shop").exists()
    assert not list((library.folder / "mirrors").iterdir()) and not list(
        (library.folder / "indexes").iterdir()
    )
    with pytest.raises(ProjectNotFound, match="'shop'"):
        library.remove(["shop"])


def test_an_export_makes_the_same_library_elsewhere(library: Library, tmp_path: Path) -> None:
    library.add(str(make_tree(tmp_path / "till", TILL)), groups=["net"])
    library.add(git_repo(tmp_path / "shop", TILL).as_uri(), refs=["main"])
    other = Library.open(str(tmp_path / "other"))
    other.catalogue.create()
    assert [one.name for one in other.take(library.export())] == ["shop", "till"]
    assert other.export() == library.export() and other.take(library.export()) == []


def test_questions_with_known_answers_are_asked_of_all_repositories(library: Library, tmp_path: Path) -> None:
    for name, files in (("shop", SHOP), ("till", TILL)):
        library.add(str(age(make_tree(tmp_path / name, files))))
    dataset = tmp_path / "questions.jsonl"
    question = {"query_id": "1", "query": "open the drawer", "gold": [{"path": "till/till.py"}]}
    dataset.write_text(json.dumps(question) + "\n")
    told = json.loads(run_cli("eval", dataset, "--json", f"--library={library.folder}").stdout)
    assert told["asked"] == 1 and told["metrics"]["ndcg@10"]["mean"] == 1.0


def test_the_command_line_does_all_of_it(tmp_path: Path) -> None:
    make_tree(tmp_path / "shop", SHOP)
    make_tree(tmp_path / "till", TILL)
    git_repo(tmp_path / "far", TILL)
    place = "--library=books"

    def run(*words: str, code: int = 0) -> Any:
        done = run_cli(*words, "--json", cwd=tmp_path)
        assert done.returncode == code, done.stderr + done.stdout
        return json.loads(done.stdout)

    assert run("library", "list", place, code=3)["error"]["code"] == "project_not_found"
    run("library", "init", place)
    run("library", "add", "shop", "till", place, "--group", "here")
    run("library", "add", (tmp_path / "far").as_uri(), place, "--name", "mirror")
    assert [one["state"] for one in run("library", "list", place)["repositories"]] == [
        "new",
        "ready",
        "ready",
    ]
    assert run("library", "sync", place)["ok"]
    found = run("library", "status", place)["repositories"]
    assert [(one["name"], one["files"], one["stale"]) for one in found] == [
        ("mirror", 2, False),
        ("shop", 7, False),
        ("till", 2, False),
    ]
    hits = run("search", "open_drawer", place)["hits"]
    assert [hit["ref"].partition("@")[0] for hit in hits[:2]] == ["mirror", "till"]
    narrowed = run("search", "open_drawer", place, "--repo", "t*")["hits"]
    assert {hit["path"].partition("/")[0] for hit in narrowed} == {"till"}
    assert (
        run("search", "x", place, "--repo", "none", code=3)["error"]["hint"]
        == "repositories: mirror, shop, till"
    )
    assert run("index", place, code=2)["error"]["code"] == "invalid_request"
    assert run("library", "remove", "till", place)["repositories"][0]["name"] == "till"
    assert run("library", "fly", place, code=2)["error"]["code"] == "invalid_request"
    swallowed = run("search", "--library", "open_drawer", code=2)["error"]
    assert "'open_drawer' was taken for the folder of --library" in swallowed["hint"]
    two = run("search", "open_drawer", "-s", "shop", "-s", "till")["hits"]
    assert two[0]["path"] == "till/till.py"


def test_a_pack_of_a_library_cites_commits_and_is_verified_at_them(tmp_path: Path) -> None:
    origin = Repository(tmp_path / "far")
    commit = origin.commit("The till", TILL)
    make_tree(tmp_path / "shop", SHOP)
    for words in (("init",), ("add", "shop", origin.root.as_uri()), ("sync",)):
        assert run_cli("library", *words, "--library", "books", cwd=tmp_path).returncode == 0
    for form in ("context", "terminal", "markdown", "xml", "json"):
        words = ("pack", "open drawer of the till", "--library=books", "--format", form)
        pack = run_cli(*words, cwd=tmp_path).stdout
        if form in ("context", "terminal", "markdown"):
            assert f"far@{commit}:till.py:1".encode() in pack and b"shop@worktree:" in pack
        (tmp_path / f"{form}.pack").write_bytes(pack)
    origin.commit("Another", {"till.py": "# changed\n"})
    run_cli("library", "sync", "--library", "books", cwd=tmp_path)
    again = run_cli("library", "sync", "--library", "books", cwd=tmp_path).stdout.decode().splitlines()
    assert again[1] == "shop  ./shop  ready, up to date"
    for form in ("context", "terminal", "markdown", "xml", "json"):
        done = run_cli("verify", f"{form}.pack", "--library=books", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stdout
    make_tree(tmp_path / "shop", {"src/till.go": "package till\n"})
    assert run_cli("verify", "context.pack", "--library=books", cwd=tmp_path).returncode == 1
    fetched = run_cli("get", f"far@{commit}:till.py:1-2", "--library=books", cwd=tmp_path)
    assert fetched.returncode == 3 and b"def open_drawer" not in fetched.stdout
    again = run_cli(
        "verify",
        "context.pack",
        "--library=books",
        "--refresh",
        "--output",
        "new.pack",
        cwd=tmp_path,
    )
    assert again.returncode == 1
    assert run_cli("verify", "new.pack", "--library=books", cwd=tmp_path).returncode == 0


def test_an_engine_at_a_commit_closes_nothing_of_the_engine_it_came_from(
    library: Library, tmp_path: Path
) -> None:
    origin = Repository(tmp_path / "far")
    commit = origin.commit("The till", TILL)
    library.add(str(make_tree(tmp_path / "shop", SHOP)))
    library.add(str(origin.root), refs=[commit])
    assert synced(library)
    with library.engine() as engine:
        engine.ensure_fresh()
        before = engine.search("open_drawer")
        for ref in ("shop@worktree", f"far@{commit}"):
            with engine.at(ref) as one:
                assert one.search("open_drawer") or ref.startswith("shop")
        assert engine.search("open_drawer") == before and engine.corpus().snapshot.all_symbols()


def test_every_answer_with_paths_says_the_commit_of_each_repository(tmp_path: Path) -> None:
    files = {
        "till.py": "def open_drawer():\n    return 'open'\n\n\ndef begin():\n    return open_drawer()\n",
        "shift.py": "from till import begin\n\n\ndef run_shift():\n    return begin()\n",
    }
    git_repo(tmp_path / "far", files)
    make_tree(tmp_path / "near", {"bank.py": "def open_vault():\n    return 'open'\n"})
    place = "--library=books"
    for words in (("init",), ("add", "near"), ("add", "far", "--ref", "main"), ("sync",)):
        assert run_cli("library", *words, place, cwd=tmp_path).returncode == 0
    commit = git(tmp_path / "far", "rev-parse", "HEAD").strip()
    questions = (
        ("refs", "open_drawer"),
        ("symbols", "open_drawer"),
        ("impact", "open_drawer"),
        ("path", "run_shift", "open_drawer"),
        ("grep", "open_drawer"),
        ("grep", "open_drawer", "--count"),
    )
    for words in questions:
        told = run_cli(*words, place, cwd=tmp_path).stdout.decode()
        assert f"far@{commit[:12]}:till.py" in told, told
        answer = json.loads(run_cli(*words, "--json", place, cwd=tmp_path).stdout)
        assert answer["refs"] == {"far": f"far@{commit}"}
    for words in (("grep", "open"), ("map",)):
        answer = json.loads(run_cli(*words, "--json", place, cwd=tmp_path).stdout)
        expected = {"far": f"far@{commit}", "near": "near@worktree"}
        assert answer["refs"].items() <= expected.items() and "far" in answer["refs"]
    alone = run_cli("symbols", "open_drawer", "--json", "-s", "far", cwd=tmp_path)
    assert "refs" not in json.loads(alone.stdout)


def test_status_shows_the_current_folder_as_a_dot_and_counts_one_file(tmp_path: Path) -> None:
    root, place = make_tree(tmp_path / "till", {"till.py": TILL["till.py"]}), tmp_path / "books"
    run_cli("library", "init", "--library", place)
    run_cli("library", "add", root, "--library", place)
    run_cli("library", "sync", "--library", place)
    shown = run_cli("library", "status", "--library", place, cwd=root).stdout.decode()
    assert shown == "till  .  ready, 1 file\n"
    above = run_cli("library", "status", "--library", place, cwd=tmp_path).stdout.decode()
    assert above == "till  ./till  ready, 1 file\n"
