"""Trees of git blobs: stamps, what is staged, and clones that lack objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from satchel import Engine, plugins
from satchel.errors import FileNotFound, RefNotFound
from satchel.packing import pack
from satchel.types import Skipped, SkipReason
from satchel.walking.git_trees import GitTree, StagedTree
from satchel.walking.work_tree import WorkTree

Write = Callable[..., Path]
Commit = Callable[..., str]
Git = Callable[..., str]


@pytest.fixture
def root(write: Write, commit: Commit) -> Path:
    made = write({"a.py": "a = 1\n", "b.py": "b = 1\n", "sub/c.py": "c = 1\n"})
    commit(made)
    return made


def stamps(tree: GitTree | StagedTree) -> dict[str, int]:
    return {entry.path: entry.mtime_ns for entry in tree.entries().files}


def test_an_equal_stamp_is_an_equal_file_in_whatever_tree(root: Path, write: Write, commit: Commit) -> None:
    write({"b.py": "b = 2\n", "again/a.py": "a = 1\n"})
    commit(root)
    before, after = stamps(GitTree(root, "HEAD~1")), stamps(GitTree(root, "HEAD"))
    assert after["a.py"] == before["a.py"] == after["again/a.py"] and after["b.py"] != before["b.py"]
    assert stamps(StagedTree(root)) == after


def test_a_stamp_lies_in_the_past_so_that_it_is_settled(root: Path) -> None:
    assert all(
        0 < stamp < 2**60 < 1_600_000_000_000_000_000 for stamp in stamps(GitTree(root, "HEAD")).values()
    )


def test_what_is_staged_is_neither_the_commit_nor_the_disk(root: Path, write: Write, owner_git: Git) -> None:
    write({"a.py": "a = 2\n", "new.py": "n = 1\n"})
    owner_git(root, "add", "a.py", "new.py")
    owner_git(root, "rm", "-q", "--cached", "b.py")
    write({"a.py": "a = 3\n"})
    tree = StagedTree(root)
    assert [entry.path for entry in tree.entries().files] == ["a.py", "new.py", "sub/c.py"]
    assert tree.read("a.py") == b"a = 2\n" and tree.ref == "staged"
    with pytest.raises(FileNotFound, match="not at staged"):
        tree.read("b.py")


def test_another_content_has_another_id_and_name(root: Path, write: Write, owner_git: Git) -> None:
    first = StagedTree(root)
    write({"a.py": "a = 2\n"})
    assert StagedTree(root).content_id == first.content_id
    owner_git(root, "add", "a.py")
    assert StagedTree(root).content_id != first.content_id and StagedTree(root).name != first.name
    assert first.read("a.py") == b"a = 1\n"


def test_the_staged_files_of_a_sub_folder_are_its_own(root: Path) -> None:
    assert [entry.path for entry in StagedTree(root / "sub").entries().files] == ["c.py"]


def test_before_the_first_commit_files_can_be_staged_but_no_ref_read(write: Write, owner_git: Git) -> None:
    root = write({"a.py": "a\n"})
    owner_git(root, "init", "-q")
    assert StagedTree(root).entries().files == []
    owner_git(root, "add", "a.py")
    assert stamps(StagedTree(root)) and StagedTree(root).head() == ""
    with pytest.raises(RefNotFound):
        GitTree(root, "HEAD")


def test_a_plain_folder_has_nothing_staged(write: Write) -> None:
    with pytest.raises(RefNotFound, match="no git work tree"):
        StagedTree(write({"a.py": ""}))


def test_of_an_unmerged_file_our_side_is_taken_and_said(root: Path, commit: Commit, owner_git: Git) -> None:
    for branch, text in (("side", "side\n"), ("main", "ours\n")):
        owner_git(root, "checkout", "-q", *(["-b"] if branch == "side" else []), branch)
        (root / "a.py").write_text(text)
        commit(root)
    with pytest.raises(Exception, match="non-zero"):
        owner_git(root, "merge", "-q", "side")
    tree = StagedTree(root)
    assert tree.read("a.py") == b"ours\n" and "1 file is unmerged" in tree.entries().notes[0]


def test_links_and_submodules_are_not_staged_files(
    root: Path, write: Write, commit: Commit, owner_git: Git, tmp_path: Path
) -> None:
    commit(write({"i.py": "1\n"}, tmp_path / "inner"))
    allowed = ("-c", "protocol.file.allow=always")
    owner_git(root, *allowed, "submodule", "--quiet", "add", str(tmp_path / "inner"), "module")
    (root / "link.py").symlink_to("a.py")
    owner_git(root, "add", "link.py")
    walk = StagedTree(root).entries()
    assert [entry.path for entry in walk.files] == ["a.py", "b.py", "sub/c.py"]
    assert ("link.py", SkipReason.SYMLINK) in [(item.path, item.reason) for item in walk.skipped]


@pytest.fixture
def partial(root: Path, write: Write, commit: Commit, owner_git: Git, tmp_path: Path) -> Path:
    """A clone without the blobs of old commits, whose remote is gone."""
    write({"a.py": "a = 2\n"})
    commit(root)
    owner_git(root, "config", "uploadpack.allowFilter", "true")
    owner_git(tmp_path, "clone", "-q", "--filter=blob:none", root.as_uri(), "partial")
    root.rename(tmp_path / "gone")
    return tmp_path / "partial"


def test_a_blob_that_a_partial_clone_lacks_is_reported_not_fetched(partial: Path) -> None:
    walk = GitTree(partial, "HEAD~1").entries()
    assert [entry.path for entry in walk.files] == ["b.py", "sub/c.py"]
    assert walk.skipped == [Skipped("a.py", SkipReason.UNREADABLE, "the object is not in this clone")]
    with pytest.raises(FileNotFound, match="not in this clone"):
        GitTree(partial, "HEAD~1").read("a.py")


def test_what_a_partial_clone_lacks_is_said_in_the_pack(partial: Path, tmp_path: Path) -> None:
    with Engine.open(partial, index_dir=tmp_path / "index") as engine, engine.at("HEAD~1") as past:
        assert past.notes == ("1 of its files could not be read, because they are not in this clone: a.py",)
        assert past.notes[0] in past.pack("b").hints
    with Engine.open(partial, index_dir=tmp_path / "index") as engine:
        review = engine.review("HEAD~1..HEAD", render=plugins.load("renderer", "context").render)
        assert review.hints[0].startswith("which lines changed is not known of 1 file")
        assert not any(hint.startswith("changed, but no line of it") for hint in review.hints)


def test_a_partial_clone_has_all_that_it_checked_out(partial: Path) -> None:
    assert GitTree(partial, "HEAD").entries().skipped == [] == StagedTree(partial).entries().skipped
    assert GitTree(partial, "HEAD").read("a.py") == b"a = 2\n"


def test_a_commit_that_a_shallow_clone_lacks_is_an_error_with_the_way_out(
    root: Path, commit: Commit, owner_git: Git, tmp_path: Path
) -> None:
    old = owner_git(root, "rev-parse", "HEAD")
    commit(root, "another")
    owner_git(tmp_path, "clone", "-q", "--depth", "1", root.as_uri(), "shallow")
    for ref in (old, "HEAD~1"):
        with pytest.raises(RefNotFound) as caught:
            GitTree(tmp_path / "shallow", ref)
        assert "unshallow" in caught.value.hint
    assert GitTree(tmp_path / "shallow", "HEAD").entries().files


@pytest.mark.parametrize(
    "ref", ["a\x7fb", "\ud800", "a\0", "\x1b[31m", "-", "--output=x", " ", "..", "x" * 200_000]
)
def test_no_text_is_taken_for_a_ref_or_an_option(root: Path, ref: str) -> None:
    with pytest.raises(RefNotFound):
        GitTree(root, ref)


@pytest.mark.parametrize("ref", ["HEAD", "@", "team/side-1", "v1", "refs/heads/main", "main^0", "HEAD~0"])
def test_every_spelling_of_a_commit_is_read(root: Path, owner_git: Git, ref: str) -> None:
    owner_git(root, "branch", "team/side-1")
    owner_git(root, "tag", "-m", "annotated", "v1")
    owner_git(root, "checkout", "-q", "--detach")
    assert GitTree(root, ref).commit == owner_git(root, "rev-parse", "HEAD")


def test_both_words_for_the_work_tree_are_one() -> None:
    assert WorkTree.ref == pack.WORK_TREE
