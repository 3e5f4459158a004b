"""A remembered walk stands exactly as long as another walk would find the same."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from satchel.walking import stamp_filter, stat_cache
from satchel.walking.work_tree import WorkTree

FILES: dict[str, str | bytes] = {
    "a.py": "x = 1\n",
    "pkg/b.py": "y = 2\n",
    "pkg/deep/c.md": "# C\n",
    ".gitignore": "*.log\n",
    "pkg/.satchelignore": "skip.py\n",
    "pkg/skip.py": "z = 3\n",
    "empty/deep/d.txt": "d\n",
    "_ctx/notes.md": "# Notes\n",
    "large.txt": b"x" * (2 * 1024 * 1024 + 1),
}
Change = Callable[[Path], object]
_TICK_SECONDS = 0.02  # change times move on in steps of a few milliseconds
CHANGES: dict[str, Change] = {
    "a file is added": lambda root: (root / "pkg/new.py").write_text(""),
    "a file is added where none was": lambda root: (root / "empty/new.py").write_text(""),
    "a file is removed": lambda root: (root / "pkg/b.py").unlink(),
    "a file is renamed": lambda root: (root / "pkg/b.py").rename(root / "pkg/b2.py"),
    "a file is edited": lambda root: (root / "pkg/b.py").write_text("y = 22\n"),
    "a file has another time": lambda root: os.utime(root / "a.py", (1, 1)),
    "a file becomes a link": lambda root: [(root / "a.py").unlink(), (root / "a.py").symlink_to("pkg/b.py")],
    "a folder is added": lambda root: (root / "other").mkdir(),
    "a folder is closed": lambda root: (root / "empty").chmod(0o700),
    "a large file shrinks": lambda root: (root / "large.txt").write_text("small\n"),
    "a large file grows": lambda root: (root / "large.txt").write_bytes(b"x" * (3 * 1024 * 1024)),
    "an ignore file is added": lambda root: (root / "empty/.ignore").write_text("*.txt\n"),
    "an ignore file has other patterns": lambda root: (root / ".gitignore").write_text("*.txt\n"),
    "a deep ignore file has other patterns": lambda root: (root / "pkg/.satchelignore").write_text("b.py\n"),
    "a document is added beside an index": lambda root: (root / "_ctx/new.md").write_text("# New\n"),
    "a document beside an index is edited": lambda root: (root / "_ctx/notes.md").write_text("# Other\n"),
    "a link is in place of an index folder": lambda root: [
        (root / "_ctx").rename(root.parent / "away"),
        (root / "_ctx").symlink_to(root.parent / "away"),
    ],
    "the folder becomes a repository": lambda root: (root / ".git").mkdir(),
    "a repository appears inside": lambda root: (root / "empty/.git").mkdir(),
    "the folder around becomes a repository": lambda root: (root.parent / ".git").mkdir(),
}


def settle_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stat_cache, "_RACY_NS", 10_000_000)
    monkeypatch.setattr(stat_cache, "_FINE_RACY_NS", 10_000_000)


@pytest.fixture(params=[1, 2_000], ids=["many at once", "one by one"])
def project(
    request: pytest.FixtureRequest, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder that rested for longer than a tick, which here is enough for it to count as settled. Its paths
    are looked at in both ways."""
    settle_early(monkeypatch)
    monkeypatch.setattr(stamp_filter, "_WORTHWHILE", request.param)
    root = write(FILES)
    time.sleep(_TICK_SECONDS)
    return root


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    (tmp_path / "index").mkdir()
    time.sleep(_TICK_SECONDS)
    return tmp_path / "index" / "context.walk"


def remembered(root: Path, memory: Path, key: str = "k") -> WorkTree:
    tree = WorkTree(root)
    tree.save_stat_cache(memory, key, tree.entries())
    return tree


def unchanged(tree: WorkTree, memory: Path, key: str = "k") -> dict[str, object] | None:
    """The watermark of a tree that is as it was remembered."""
    changes = tree.changes_since(memory, key)
    return None if changes is None else changes.unchanged_watermark


def test_an_unchanged_tree_stands(project: Path, memory: Path) -> None:
    remembered(project, memory)
    assert unchanged(WorkTree(project), memory)


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_tree_does_not_stand(project: Path, memory: Path, name: str) -> None:
    remembered(project, memory)
    CHANGES[name](project)
    assert memory.exists() and unchanged(WorkTree(project), memory) is None


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "remove", "rename", "ignore", "folder"]),
        st.sampled_from(["a.py", "pkg/b.py", "pkg/new.py", "x/y.py", "x/z/w.md", ".hidden"]),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS)
def test_whatever_happens_a_tree_that_stands_gives_the_same_walk(
    project: Path, memory: Path, steps: list[tuple[str, str]]
) -> None:
    time.sleep(_TICK_SECONDS)
    before = WorkTree(project).entries()
    remembered(project, memory)
    for step, path in steps:
        _do(project, step, path)
    tree = WorkTree(project)
    assert unchanged(tree, memory) is None or tree.entries() == before


def _do(root: Path, step: str, path: str) -> None:
    target = root / path
    if step == "remove":
        target.unlink(missing_ok=True)
    elif step == "rename" and target.exists():
        target.rename(target.with_suffix(".moved"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = target.parent / ".ignore" if step == "ignore" else target
        file.write_text(f"{step}*\n" if step == "ignore" else f"{time.time_ns()}\n")


def test_another_key_another_root_and_another_user_do_not_stand(
    project: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = remembered(project, memory)
    assert unchanged(tree, memory, "other") is None
    assert unchanged(WorkTree(project / "pkg"), memory) is None
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert unchanged(tree, memory) is None


def test_what_changed_just_before_the_walk_is_in_doubt(project: Path, memory: Path) -> None:
    (project / "pkg/b.py").write_text("b = 2\n")
    changes = remembered(project, memory).changes_since(memory, "k")
    assert changes is not None and changes.paths == ["pkg/b.py"] and changes.unchanged_watermark is None


def test_a_walk_of_which_much_is_in_doubt_is_not_remembered(
    project: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stat_cache, "_MOST_CHANGED", 2)
    for name in ("a.py", "pkg/b.py"):
        (project / name).write_text("x = 2\n")
    remembered(project, memory)
    assert not memory.exists()


def test_a_tenth_of_a_second_settles_what_has_a_fine_time_and_two_seconds_the_rest() -> None:
    coarse_ns, fine_ns = 1_700_000_000_000_000_000, 1_700_000_000_000_000_001
    assert stat_cache._is_settled(fine_ns, fine_ns + 100_000_001)
    assert not stat_cache._is_settled(fine_ns, fine_ns + 99_000_000)
    assert not stat_cache._is_settled(coarse_ns, coarse_ns + 1_999_000_000)
    assert stat_cache._is_settled(coarse_ns, coarse_ns + 2_000_000_001)


@pytest.mark.parametrize("ahead_ns", [-5_000_000_000, 5_000_000_000])
def test_a_file_system_by_another_clock_is_not_trusted(
    project: Path, memory: Path, monkeypatch: pytest.MonkeyPatch, ahead_ns: int
) -> None:
    tree = WorkTree(project)
    walk = tree.entries()
    monkeypatch.setattr(stat_cache.time, "time_ns", lambda now=time.time_ns: now() + ahead_ns)
    tree.save_stat_cache(memory, "k", walk)
    assert not memory.exists()


def test_what_changed_during_the_walk_is_found(project: Path, memory: Path) -> None:
    tree = WorkTree(project)
    walk = tree.entries()
    time.sleep(_TICK_SECONDS)
    (project / "pkg/late.py").write_text("")
    tree.save_stat_cache(memory, "k", walk)
    changes = tree.changes_since(memory, "k")
    assert changes is not None and "pkg/late.py" in changes.paths


def test_a_repository_is_not_remembered(project: Path, memory: Path) -> None:
    (project / ".git").mkdir()
    time.sleep(_TICK_SECONDS)
    remembered(project, memory)
    assert not memory.exists()


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x90", b"not ours", b"\x95\xc4\x01k" + b"\xc4\x01a" * 4])
def test_a_broken_memory_is_no_memory(project: Path, memory: Path, content: bytes) -> None:
    memory.write_bytes(content)
    assert unchanged(WorkTree(project), memory) is None


def test_stamps_that_were_cut_off_do_not_stand(project: Path, memory: Path) -> None:
    tree = remembered(project, memory)
    kept = stat_cache.load(memory, tree.cache_key("k"))
    assert kept is not None and stat_cache.find_changes(project, kept) == stat_cache.Changes({}, {})
    for cut in (kept.file_stamps[:-16], kept.file_stamps[:-8], kept.file_stamps[:-3], b""):
        values = (kept.key, kept.watermark, kept.folders, kept.folder_stamps, kept.files, cut)
        assert stat_cache.find_changes(project, stat_cache.StatCache(*values)) is None


def test_of_files_that_are_named_only_these_are_looked_at(project: Path, memory: Path) -> None:
    tree = remembered(project, memory)
    (project / "a.py").write_text("x = 3\n")
    (project / "pkg/b.py").write_text("y = 3\n")
    changes = tree.changes_since(memory, "k", ["pkg/b.py", "pkg/.b.py.tmp"])
    assert changes is not None and changes.paths == ["pkg/b.py"]
    changes.save(memory, "k", changes.watermark)
    later = tree.changes_since(memory, "k")
    assert later is not None and "a.py" in later.paths


@pytest.mark.parametrize("path", ["empty", "pkg/.ignore", "empty/.gitattributes", "pkg/.git"])
def test_a_named_file_that_may_decide_about_others_takes_a_walk(
    project: Path, memory: Path, path: str
) -> None:
    assert remembered(project, memory).changes_since(memory, "k", ["a.py", path]) is None


def test_an_ignored_name_is_remembered_once(project: Path, memory: Path) -> None:
    tree = remembered(project, memory)
    kept = stat_cache.load(memory, tree.cache_key("k"))
    assert kept is not None
    nothing, ignored = stat_cache.Changes({}, {}), frozenset({b"pkg/x.log"})
    once = stat_cache.with_changes(kept, nothing, 0, ignored)
    assert once.others.count(b"pkg/x.log") == 1
    assert stat_cache.with_changes(once, nothing, 0, ignored).others == once.others


def test_stamps_are_saved_again_within_the_tick_in_which_the_index_was_written(
    project: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = remembered(project, memory)
    kept = stat_cache.load(memory, tree.cache_key("k"))
    assert kept is not None
    memory.unlink()
    device, ticked_ns = project.stat().st_dev, time.time_ns()
    with monkeypatch.context() as patch:
        patch.setattr(
            stat_cache.os, "stat", lambda path: SimpleNamespace(st_dev=device, st_ctime_ns=ticked_ns)
        )
        stat_cache.save(memory, kept, project)
        assert not os.path.lexists(memory)
        stat_cache.save(memory, kept, project, again=True)
    assert memory.exists()


def test_a_link_in_the_place_of_the_memory_is_not_followed(
    project: Path, memory: Path, tmp_path: Path
) -> None:
    (tmp_path / "victim").write_text("mine")
    memory.symlink_to(tmp_path / "victim")
    time.sleep(_TICK_SECONDS)
    tree = remembered(project, memory)
    assert (tmp_path / "victim").read_text() == "mine" and not memory.is_symlink()
    memory.rename(tmp_path / "moved")
    memory.symlink_to(tmp_path / "moved")
    assert unchanged(tree, memory) is None


def test_a_folder_that_is_not_there_is_no_reason_to_complain(project: Path, tmp_path: Path) -> None:
    remembered(project, tmp_path / "nowhere" / "context.walk")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a second file system")
def test_a_file_system_that_was_not_tried_is_not_trusted(project: Path) -> None:
    memory = Path(f"/dev/shm/satchel-{os.getpid()}.walk")
    remembered(project, memory)
    assert os.stat("/dev/shm").st_dev == os.stat(project).st_dev or not memory.exists()


def test_a_root_whose_name_is_not_text_is_remembered(project: Path, memory: Path) -> None:
    odd = project.rename(os.fsdecode(os.fsencode(project) + b"\xff"))
    time.sleep(_TICK_SECONDS)
    assert unchanged(remembered(odd, memory), memory)


def test_an_empty_folder_stands(tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle_early(monkeypatch)
    (tmp_path / "void").mkdir()
    time.sleep(_TICK_SECONDS)
    assert unchanged(remembered(tmp_path / "void", memory), memory)


def test_what_we_write_into_an_index_folder_changes_nothing(project: Path, memory: Path) -> None:
    tree = remembered(project, memory)
    for name in ("context.db", "context.db-wal", "context_pack.json", "settle-0-1"):
        (project / "_ctx" / name).write_text("x")
    (project / "_ctx" / "refs").mkdir()
    assert unchanged(tree, memory)
