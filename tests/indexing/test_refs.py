"""An engine at a ref: the same answers as a checkout, and no content parsed twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import QUERIES, SHOP, clean_environment, dump, git, git_repo, make_engine, make_tree, run_cli
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from satchel.engine import Engine
from satchel.errors import FileNotFound, PathNotAllowed, RefNotFound
from satchel.storage.memory import MemoryStore
from satchel.storage.sqlite import REFS_FOLDER

Change = Callable[[Path], None]


@pytest.fixture(autouse=True)
def _no_outer_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Three commits on main, one beside them."""
    root = git_repo(tmp_path / "shop", SHOP)
    git_repo(root, {"src/money.py": "RATE = 3\n", "src/extra.py": "def extra_till():\n    pass\n"})
    git(root, "checkout", "-q", "-b", "team/side", "HEAD~1")
    git_repo(root, {"docs/side.md": "# Side\n\nOnly on the side branch.\n"})
    git(root, "checkout", "-q", "main")
    git(root, "mv", "src/till.go", "src/drawer.go")
    return git_repo(root, {})


def parsed(engine: Engine) -> int:
    return engine.last_refresh.parsed if engine.last_refresh is not None else 0


def checkout(root: Path, ref: str, folder: Path) -> Engine:
    """The index that a plain checkout of the ref gives."""
    git(root.parent, "clone", "-q", str(root), str(folder))
    git(folder, "checkout", "-q", ref)
    engine = make_engine(folder, MemoryStore())
    engine.refresh()
    return engine


def answers(engine: Engine) -> dict[str, object]:
    """Everything an index says but the times of its files."""
    found = dump(engine)
    for file in found["files"].values():
        file["record"] = (file["record"][0], *file["record"][2:])
    return found


STORES = [None, MemoryStore]


@pytest.mark.parametrize("store", STORES, ids=["sqlite", "memory"])
@pytest.mark.parametrize("ref", ["HEAD", "HEAD~1", "HEAD~2", "team/side"])
def test_a_ref_answers_as_its_checkout_does(
    shop: Path, tmp_path: Path, ref: str, store: Callable[[], MemoryStore] | None
) -> None:
    with make_engine(shop, store() if store else None) as engine:
        engine.refresh()
        with engine.at(ref) as past:
            assert answers(past) == answers(checkout(shop, past.commit, tmp_path / "clone"))
            assert past.commit == past.ref == git(shop, "rev-parse", ref).strip()
        assert (engine.ref, engine.commit) == ("worktree", "")


@pytest.mark.parametrize("store", STORES, ids=["sqlite", "memory"])
def test_no_content_is_parsed_twice_across_refs(shop: Path, store: Callable[[], MemoryStore] | None) -> None:
    with make_engine(shop, store() if store else None) as engine:
        assert engine.refresh().parsed == 8
        counts = [
            parsed(engine.at(ref)) for ref in ("HEAD", "HEAD~1", "HEAD~2", "team/side", "HEAD", "HEAD~1")
        ]
    assert counts == [0, 0, 1, 1, 0, 0]  # a rename is none; one file has an older version, one is on the side


def test_a_change_of_equal_size_is_seen(shop: Path) -> None:
    git_repo(shop, {"src/money.py": "RATE = 7\n"})
    with make_engine(shop) as engine:
        engine.refresh()
        past, before = engine.at("HEAD"), engine.at("HEAD~1")
        assert [item.snapshot().text("src/money.py") for item in (past, before)] == [
            "RATE = 7\n",
            "RATE = 3\n",
        ]
        assert (parsed(past), parsed(before)) == (0, 1)


def test_going_back_opens_the_index_that_is_there(shop: Path) -> None:
    with make_engine(shop) as engine:
        first = engine.at("HEAD~2")
        made = first.snapshot().version
        engine.at("HEAD")
        again = engine.at("HEAD~2")
        assert again.last_refresh is None and again.snapshot().version == made


def test_content_is_also_taken_from_the_index_of_another_ref(shop: Path) -> None:
    with make_engine(shop) as engine:
        engine.refresh()
        engine.at("team/side")
        git_repo(shop, {"docs/copied.md": "# Side\n\nOnly on the side branch.\n"})
        report = engine.at("HEAD").last_refresh
    assert report is not None and report.parsed == 0 and report.moved > 0


def test_the_nearest_index_is_what_a_new_one_starts_from(shop: Path) -> None:
    make_tree(shop, {f"many/{number}.md": f"# Many {number}\n" for number in range(60)})
    git_repo(shop, {})
    git_repo(shop, {"last.md": "# Last\n"})
    with make_engine(shop) as engine:
        for ref in ("HEAD", "HEAD~4"):
            engine.at(ref)
        report = engine.at("HEAD~1").last_refresh
    assert report is not None and (report.kept, report.moved, report.parsed) == (68, 0, 0)


def test_without_any_index_a_ref_is_indexed_from_the_start(shop: Path) -> None:
    with make_engine(shop) as engine, engine.at("HEAD") as past:
        assert parsed(past) == 8 and not (shop / "_ctx/context.db").exists()
        assert (shop / "_ctx/.gitignore").exists() and git(shop, "status", "--short") == ""


def test_an_index_of_a_ref_is_named_after_its_commit_and_lives_where_the_index_does(
    shop: Path, tmp_path: Path
) -> None:
    commit = git(shop, "rev-parse", "HEAD").strip()
    with make_engine(shop, index_dir=tmp_path / "home") as engine, engine.at("HEAD"):
        assert (tmp_path / f"home/refs/{commit[:16]}.db").is_file() and not (shop / "_ctx").exists()


def test_a_branch_that_moves_on_is_another_index(shop: Path) -> None:
    with make_engine(shop) as engine:
        before = engine.at("main")
        git_repo(shop, {"moved_on.md": "# Moved on\n"})
        after = engine.at("main")
        assert before.snapshot().file("moved_on.md") is None and after.snapshot().file("moved_on.md")
        assert before.commit != after.commit


def test_the_work_tree_is_neither_read_nor_touched(shop: Path) -> None:
    make_tree(shop, {"src/money.py": "RATE = 99  # not committed\n", "untracked.md": "# Untracked\n"})
    stamps = {path: path.stat().st_mtime_ns for path in shop.rglob("*") if "_ctx" not in path.parts}
    with make_engine(shop) as engine, engine.at("HEAD") as past:
        assert past.snapshot().text("src/money.py") == "RATE = 3\n"
        assert past.snapshot().file("untracked.md") is None
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps


def test_a_file_is_read_as_it_was_at_the_ref(shop: Path) -> None:
    with make_engine(shop, MemoryStore()) as engine:
        assert engine.at("HEAD~2").read("src/money.py").text == SHOP["src/money.py"]  # type: ignore[union-attr]
        with pytest.raises(FileNotFound):
            engine.at("HEAD~2")._tree.read("src/extra.py")


def test_a_sub_folder_at_a_ref_has_its_own_paths(shop: Path) -> None:
    with make_engine(shop / "src") as engine, engine.at("HEAD~1") as past:
        assert [record.path for record in past.snapshot().files()] == [
            "basket.py",
            "extra.py",
            "money.py",
            "till.go",
        ]


def test_a_submodule_is_a_repository_of_its_own_and_nothing_without_its_files(
    shop: Path, tmp_path: Path
) -> None:
    outer = git_repo(tmp_path / "outer", {"a.md": "# Outer\n"})
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(shop), "inner")
    git_repo(outer, {})
    with make_engine(outer) as engine, engine.at("HEAD") as past:
        assert [record.path for record in past.snapshot().files()] == ["a.md"]
    with make_engine(outer / "inner") as engine, engine.at("HEAD~1") as past:
        assert past.commit == git(shop, "rev-parse", "HEAD~1").strip() and past.search("basket")[0]
    git(tmp_path, "clone", "-q", str(outer), "bare_bones")
    with make_engine(tmp_path / "bare_bones/inner") as engine, pytest.raises(RefNotFound):
        engine.at("HEAD")


def test_two_roots_in_one_repository_never_share_an_index(shop: Path, tmp_path: Path) -> None:
    with make_engine(shop, index_dir=tmp_path / "home") as engine:
        engine.at("HEAD").close()
    with make_engine(shop / "src", index_dir=tmp_path / "home") as engine, engine.at("HEAD") as past:
        assert {record.path for record in past.snapshot().files()} >= {"basket.py"}
        assert past.snapshot().file("src/basket.py") is None


def test_what_is_staged_can_be_asked(shop: Path) -> None:
    make_tree(shop, {"src/staged.py": "def staged_till():\n    pass\n"})
    git(shop, "add", "src/staged.py")
    make_tree(shop, {"src/staged.py": "def later_till():\n    pass\n"})
    with make_engine(shop) as engine:
        engine.refresh()
        with engine.staged() as staged:
            assert "staged_till" in staged.search("staged_till")[0][0].text
            assert (staged.ref, staged.commit, parsed(staged)) == ("staged", "", 1)
        with engine.staged() as again:
            assert again.last_refresh is None


@pytest.mark.parametrize("ref", ["", "nope", "-x", "--all", "a\nb", "HEAD:src", "HEAD~99", "main..HEAD"])
def test_a_ref_that_cannot_be_read_is_an_error_and_nothing_is_lost(shop: Path, ref: str) -> None:
    with make_engine(shop) as engine:
        engine.refresh()
        before = dump(engine)
        with pytest.raises(RefNotFound):
            engine.at(ref)
        assert dump(engine) == before and not (shop / "_ctx/refs").exists()


def test_an_index_under_other_options_is_made_anew(shop: Path) -> None:
    with make_engine(shop) as engine, engine.at("HEAD") as past:
        assert past.snapshot().file("docs/guide.md")
    make_tree(shop, {"satchel.toml": 'ignore = ["docs"]\n'})
    with make_engine(shop) as engine:
        engine.refresh()
        past = engine.at("HEAD")
        assert past.snapshot().file("docs/guide.md") is None and parsed(past) == 0


def test_a_damaged_index_of_a_ref_is_made_anew(shop: Path) -> None:
    with make_engine(shop) as engine:
        engine.refresh()
        engine.at("HEAD").close()
        (path,) = (shop / "_ctx/refs").glob("*.db")
        path.write_bytes(b"no index" * 1000)
        with engine.at("HEAD") as past:
            assert past.search("basket")[0] and parsed(past) == 0


def test_a_damaged_index_of_the_work_tree_is_no_help_and_no_harm(shop: Path) -> None:
    with make_engine(shop) as engine:
        engine.refresh()
    path = shop / "_ctx/context.db"
    data = bytearray(path.read_bytes())
    data[8192:] = os.urandom(len(data) - 8192)
    path.write_bytes(data)
    with make_engine(shop) as engine, engine.at("HEAD") as past:
        assert past.search("basket")[0][0].path == "src/basket.py"
    assert path.read_bytes() == data


def test_a_link_in_place_of_the_folder_is_refused(shop: Path, tmp_path: Path) -> None:
    (shop / "_ctx").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (shop / "_ctx/refs").symlink_to(tmp_path / "elsewhere")
    with make_engine(shop) as engine, pytest.raises(PathNotAllowed):
        engine.at("HEAD")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_state_of_a_ref_is_fresh_whatever_the_work_tree_does(shop: Path) -> None:
    with make_engine(shop) as engine, engine.at("HEAD~1") as past:
        make_tree(shop, {"src/money.py": "RATE = 9\n"})
        state = past.state()
        assert not state.stale and state.project_watermark["git_head"] == past.commit


def test_an_index_that_lacks_objects_is_completed_when_they_come(shop: Path, tmp_path: Path) -> None:
    git(shop, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", shop.as_uri(), "partial")
    with make_engine(tmp_path / "partial") as engine:
        engine.refresh()
        lacking = engine.at("HEAD~2")
        assert [item.skipped.path for item in lacking.snapshot().skipped()] == ["src/money.py"]
        git(tmp_path / "partial", "cat-file", "-p", "HEAD~2:src/money.py")
        whole = engine.at("HEAD~2")
        assert whole.snapshot().skipped() == [] and parsed(whole) == 1


NAMES = ("a.py", "b.md", "sub/c.py", "d.go", "e.txt")
TEXTS = st.sampled_from(["", "def till():\n    pass\n", "# Basket\n\nprice\n", "x = 1\r\n", "package p\n"])
COMMITS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.none() | TEXTS, max_size=4), min_size=1, max_size=5
)


def write_history(root: Path, history: list[dict[str, str | None]]) -> None:
    git_repo(root, {"first.md": "# First\n"})
    for changes in history:
        make_tree(root, {path: text for path, text in changes.items() if text is not None})
        for path in (path for path, text in changes.items() if text is None):
            (root / path).unlink(missing_ok=True)
        git_repo(root, {})


@examples(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    history=COMMITS,
    order=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    workers=st.sampled_from([1, 2]),
)
def test_whatever_the_history_a_ref_answers_as_its_checkout_does(
    tmp_path_factory: pytest.TempPathFactory,
    history: list[dict[str, str | None]],
    order: list[int],
    workers: int,
) -> None:
    folder = tmp_path_factory.mktemp("history")
    write_history(folder / "root", history)
    with make_engine(folder / "root", workers=workers) as engine:
        if order[0] % 2:
            engine.refresh()
        for number, step in enumerate(order):
            past = engine.at(f"HEAD~{step % (len(history) + 1)}")
            plain = checkout(folder / "root", past.commit, folder / f"clone{number}")
            assert answers(past) == answers(plain)
            past.close()


_ASK = """
import sys
from satchel.engine import Engine
with Engine.open(sys.argv[1], workers=1) as engine, engine.at("HEAD~1") as past:
    print(past.commit, past.search("basket")[0][0].id)
"""


def test_two_processes_that_ask_for_the_same_ref_get_the_same(shop: Path) -> None:
    ask = [sys.executable, "-c", _ASK, str(shop)]
    both = [
        subprocess.Popen(ask, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    said = {process.communicate(timeout=60) for process in both}
    assert len(said) == 1 and said.pop()[1] == b""
    left = {path.name for path in (shop / "_ctx/refs").iterdir()}
    assert not [name for name in left if ".new" in name]


def test_the_public_search_is_not_slowed_by_refs(shop: Path) -> None:
    assert run_cli("search", QUERIES[0], "--segment", shop).returncode == 0
    assert not (shop / "_ctx" / REFS_FOLDER).exists()
