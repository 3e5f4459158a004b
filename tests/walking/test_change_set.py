"""What a change changes, over real repositories: between commits, staged, and on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from satchel.errors import RefNotFound, SatchelError
from satchel.lines import split_lines
from satchel.types import LineRange
from satchel.walking import git
from satchel.walking.change_set import ChangedFile, ChangeSet, read_changes
from satchel.walking.git_diff import clip_range

Write = Callable[..., Path]
Commit = Callable[..., str]
Git = Callable[..., str]

TEN = "".join(f"line {number}\n" for number in range(1, 11))


def shown(changes: ChangeSet) -> list[tuple[str, str, str]]:
    return [(file.status.value, file.old_path, file.path) for file in changes.files]


def ranges(file: ChangedFile) -> tuple[LineRange, ...]:
    """The changed lines of the new side, those that overlap as one."""
    return _merged([hunk.new_range for hunk in file.hunks], file.line_count)


def old_ranges(file: ChangedFile) -> tuple[LineRange, ...]:
    return _merged([hunk.old_range for hunk in file.hunks], file.old_line_count)


def _merged(found: list[LineRange], line_count: int) -> tuple[LineRange, ...]:
    result: list[LineRange] = []
    for first, last in sorted(clip_range(each, line_count) for each in found):
        if result and first <= result[-1][1]:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        elif line_count:
            result.append((first, last))
    return tuple(result)


@pytest.fixture
def root(write: Write, commit: Commit) -> Path:
    made = write({"a.py": TEN, "b.py": TEN.replace("line", "other"), "c.py": "gone\n", "d/e.py": "e\n"})
    commit(made)
    return made


def change_all(root: Path) -> None:
    (root / "a.py").write_text(TEN.replace("line 3\n", "").replace("line 7\n", "new 7\nnew 8\n"))
    (root / "b.py").rename(root / "moved.py")
    (root / "c.py").unlink()
    (root / "new.py").write_text("one\ntwo\n")


EXPECTED = [
    ("modified", "a.py", "a.py"),
    ("deleted", "c.py", "c.py"),
    ("renamed", "b.py", "moved.py"),
    ("added", "", "new.py"),
]


def test_two_commits_differ_in_files_and_in_lines_of_both_sides(root: Path, commit: Commit) -> None:
    change_all(root)
    commit(root)
    changes = read_changes(root, "HEAD~1..HEAD")
    assert shown(changes) == EXPECTED and all(file.exact for file in changes.files)
    edited, deleted, renamed, added = changes.files
    assert ranges(edited) == ((2, 3), (6, 7)) and old_ranges(edited) == ((3, 3), (7, 7))
    assert (ranges(deleted), old_ranges(deleted)) == ((), ((1, 1),))
    assert (ranges(renamed), old_ranges(renamed)) == ((), ())
    assert (ranges(added), old_ranges(added)) == (((1, 2),), ())


def test_staged_and_unstaged_changes_are_told_apart(root: Path, owner_git: Git) -> None:
    change_all(root)
    owner_git(root, "add", "-A")
    (root / "d/e.py").write_text("not staged\n")
    staged = read_changes(root, "--staged")
    assert shown(staged) == EXPECTED and (staged.old, staged.new) == (git.resolve_ref(root, "HEAD"), "staged")
    on_disk = read_changes(root)
    assert shown(on_disk) == [EXPECTED[0], EXPECTED[1], ("modified", "d/e.py", "d/e.py"), *EXPECTED[2:]]
    assert on_disk.new == "worktree" and ranges(on_disk.files[0]) == ranges(staged.files[0])


def test_untracked_files_are_added_if_a_walk_takes_them_in(root: Path, write: Write) -> None:
    write(
        {
            "new.py": "x\n",
            ".env": "A=1\n",
            "node_modules/x.js": "1\n",
            "skip.log": "",
            ".gitignore": "*.log\n",
        }
    )
    assert shown(read_changes(root)) == [("added", "", "new.py")]


def test_a_ref_is_compared_with_the_files_on_disk(root: Path, commit: Commit) -> None:
    (root / "a.py").write_text(TEN + "11\n")
    commit(root)
    (root / "a.py").write_text(TEN + "11\n12\n")
    assert ranges(read_changes(root, "HEAD~1").files[0]) == ((11, 12),)
    assert ranges(read_changes(root, "HEAD").files[0]) == ((12, 12),)


def test_three_dots_start_where_the_sides_parted(root: Path, commit: Commit, owner_git: Git) -> None:
    owner_git(root, "checkout", "-q", "-b", "team/side")
    (root / "side.py").write_text("s\n")
    commit(root)
    owner_git(root, "checkout", "-q", "main")
    (root / "main.py").write_text("m\n")
    commit(root)
    assert shown(read_changes(root, "main...team/side")) == [("added", "", "side.py")]
    assert [file.path for file in read_changes(root, "main..team/side").files] == ["main.py", "side.py"]
    assert read_changes(root, "...team/side") == read_changes(root, "main...team/side")


def test_a_file_that_was_only_touched_or_made_executable_has_no_changed_lines(root: Path) -> None:
    os.utime(root / "a.py", (1, 1))
    (root / "b.py").chmod(0o755)
    (file,) = read_changes(root).files
    assert (file.path, file.hunks, file.exact) == ("b.py", (), True)


def test_files_that_had_the_same_content_are_told_apart(root: Path, write: Write, commit: Commit) -> None:
    write({"x.py": TEN, "y.py": TEN, "z.py": TEN})
    commit(root)
    write({"x.py": TEN + "x\n", "y.py": "y\n" + TEN})
    os.utime(root / "z.py", (1, 1))
    found = {file.path: ranges(file) for file in read_changes(root).files}
    assert found == {"x.py": ((11, 11),), "y.py": ((1, 1),)}


def test_a_sub_folder_sees_only_itself(root: Path, commit: Commit) -> None:
    change_all(root)
    (root / "d/e.py").write_text("E\n")
    (root / "d/new.py").write_text("n\n")
    expected = [("modified", "e.py", "e.py"), ("added", "", "new.py")]
    assert shown(read_changes(root / "d")) == expected
    commit(root)
    assert shown(read_changes(root / "d", "HEAD~1..HEAD")) == expected


ODD = [
    b'quo"te.py',
    b"new\nline.py",
    b"tab\t.py",
    b"caf\xe9.py",
    "größe.py".encode(),
    b" -p.py",
    b"@@ -1 +1 @@",
]


def test_odd_names_are_read_as_they_are(root: Path, commit: Commit) -> None:
    for number, name in enumerate(ODD):
        (Path(os.fsdecode(os.fsencode(root) + b"/" + name))).write_text(f"{number}\nold {number}\n")
    commit(root)
    for number, name in enumerate(ODD):
        (Path(os.fsdecode(os.fsencode(root) + b"/" + name))).write_text(f"{number}\nnew {number}\n")
    on_disk = read_changes(root)
    commit(root)
    committed = read_changes(root, "HEAD~1..HEAD")
    assert {os.fsencode(file.path) for file in committed.files} == set(ODD)
    assert committed.files == on_disk.files and {ranges(file) for file in on_disk.files} == {((2, 2),)}


def test_where_git_counts_lines_otherwise_the_whole_file_is_changed(
    root: Path, write: Write, commit: Commit
) -> None:
    write({"mac.py": b"a\rb\rc\r", "wide.py": "\ufeffa\nb\n".encode("utf-16-le"), "raw.bin": b"\0\1\n\2"})
    commit(root)
    write({"mac.py": b"a\rX\rc\r", "wide.py": "\ufeffa\nc\n".encode("utf-16-le"), "raw.bin": b"\0\1\n\3"})
    for changes in (read_changes(root), read_changes(root, "HEAD")):
        found = {file.path: (file.exact, ranges(file), old_ranges(file)) for file in changes.files}
        assert found["mac.py"] == (False, ((1, 3),), ((1, 3),))
        assert found["wide.py"] == (False, ((1, 2),), ((1, 2),))
        assert found["raw.bin"] == (False, (), ())


def test_links_and_submodules_are_no_files(
    root: Path, commit: Commit, owner_git: Git, write: Write, tmp_path: Path
) -> None:
    commit(write({"i.py": "1\n"}, tmp_path / "inner"))
    (root / "a.py").unlink()
    (root / "a.py").symlink_to("b.py")
    owner_git(
        root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(tmp_path / "inner"),
        "sub",
    )
    expected = [("deleted", "a.py", "a.py")]
    assert [item for item in shown(read_changes(root)) if item[2] != ".gitmodules"] == expected
    commit(root)
    changes = read_changes(root, "HEAD~1..HEAD")
    assert [item for item in shown(changes) if item[2] != ".gitmodules"] == expected


def test_an_unmerged_file_is_shown_with_its_marks_and_has_no_staged_lines(
    root: Path, commit: Commit, owner_git: Git
) -> None:
    owner_git(root, "checkout", "-q", "-b", "side")
    (root / "d/e.py").write_text("side\n")
    commit(root)
    owner_git(root, "checkout", "-q", "main")
    (root / "d/e.py").write_text("main\n")
    commit(root)
    with pytest.raises(Exception, match="non-zero"):
        owner_git(root, "merge", "-q", "side")
    (on_disk,), (staged,) = read_changes(root).files, read_changes(root, "--staged").files
    assert (on_disk.path, on_disk.exact, ranges(on_disk)) == ("d/e.py", True, ((1, 1), (3, 5)))
    assert (staged.path, staged.exact, staged.status) == ("d/e.py", False, "modified")


def test_before_the_first_commit_everything_is_new(write: Write, owner_git: Git) -> None:
    root = write({"a.py": "a\n", "b.py": "b\n"})
    owner_git(root, "init", "-q", "-b", "main")
    owner_git(root, "add", "a.py")
    assert shown(read_changes(root, "--staged")) == [("added", "", "a.py")]
    assert shown(read_changes(root)) == [("added", "", "a.py"), ("added", "", "b.py")]
    assert read_changes(root).old == ""
    with pytest.raises(RefNotFound):
        read_changes(root, "HEAD")


def test_a_file_that_git_no_longer_tracks_is_not_deleted(root: Path, owner_git: Git) -> None:
    owner_git(root, "rm", "-q", "--cached", "a.py")
    (file,) = read_changes(root).files
    assert (file.path, file.status, file.exact, ranges(file)) == ("a.py", "modified", False, ((1, 10),))
    assert shown(read_changes(root, "--staged")) == [("deleted", "a.py", "a.py")]


@pytest.mark.parametrize(
    "spec", ["nope", "HEAD..nope", "nope...HEAD", "-p", "--all", "HEAD....HEAD", "a\0b", "HEAD..\ud800"]
)
def test_what_names_no_two_sides_is_a_typed_error(root: Path, spec: str) -> None:
    with pytest.raises(RefNotFound):
        read_changes(root, spec)


def test_sides_without_a_common_ancestor_are_a_typed_error(
    root: Path, commit: Commit, owner_git: Git
) -> None:
    owner_git(root, "checkout", "-q", "--orphan", "island")
    (root / "a.py").write_text("an island\n")
    commit(root)
    with pytest.raises(RefNotFound, match="common ancestor"):
        read_changes(root, "main...island")


def test_a_plain_folder_has_no_changes_to_tell(write: Write) -> None:
    root = write({"a.py": "a\n"})
    for spec in ("", "--staged", "HEAD"):
        with pytest.raises(SatchelError):
            read_changes(root, spec)


@pytest.fixture
def hostile(root: Path, owner_git: Git, tmp_path: Path) -> tuple[Path, Path]:
    """A repository whose configuration runs a script on every diff that lets it; and the script's footprint."""
    marker, trap = tmp_path / "marker", tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat \"$@\"\n")
    trap.chmod(0o755)
    for key in ("diff.external", "core.fsmonitor", "core.pager", "diff.evil.command", "diff.evil.textconv"):
        owner_git(root, "config", key, str(trap))
    owner_git(root, "config", "filter.evil.clean", str(trap))
    owner_git(root, "config", "filter.evil.required", "true")
    owner_git(root, "config", "diff.renames", "false")
    owner_git(root, "config", "diff.evil.binary", "true")
    owner_git(root, "config", "diff.noprefix", "true")
    owner_git(root, "config", "color.ui", "always")
    (root / ".git/info/attributes").write_text("* diff=evil filter=evil\n")
    return root, marker


def test_a_hostile_configuration_runs_nothing_and_changes_no_answer(
    hostile: tuple[Path, Path], owner_git: Git
) -> None:
    root, marker = hostile
    change_all(root)
    on_disk = read_changes(root)
    assert ranges(on_disk.files[0]) == ((2, 3), (6, 7)) and "new.py" in {file.path for file in on_disk.files}
    assert not marker.exists()
    (root / ".git/info/attributes").write_text("* diff=evil\n")
    owner_git(root, "-c", "core.fsmonitor=false", "add", "-A")
    marker.unlink(missing_ok=True)
    assert shown(read_changes(root, "--staged")) == EXPECTED and not marker.exists()
    owner_git(root, "-c", "core.fsmonitor=false", "commit", "-q", "-m", "x")
    marker.unlink(missing_ok=True)
    assert ranges(read_changes(root, "HEAD~1..HEAD").files[0]) == ((2, 3), (6, 7))
    assert not marker.exists()


def test_nothing_is_written_into_the_repository(root: Path) -> None:
    change_all(root)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    for spec in ("", "--staged", "HEAD", "HEAD..HEAD"):
        read_changes(root, spec)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def partial_clone(source: Path, target: Path, owner_git: Git) -> Path:
    owner_git(source, "config", "uploadpack.allowFilter", "true")
    owner_git(source.parent, "clone", "-q", "--filter=blob:none", source.as_uri(), str(target))
    return target


def test_a_partial_clone_tells_what_it_can(
    root: Path, commit: Commit, owner_git: Git, tmp_path: Path
) -> None:
    change_all(root)
    commit(root)
    clone = partial_clone(root, tmp_path / "partial", owner_git)
    changes = read_changes(clone, "HEAD~1..HEAD")
    assert shown(changes) == EXPECTED
    edited, deleted, renamed, added = changes.files
    assert (edited.exact, ranges(edited)) == (False, ((1, 10),)) and not deleted.exact
    assert renamed.exact and ranges(added) == ((1, 2),)


def apply(old: list[str], new: list[str], file_hunks: object) -> list[str]:
    result, position = [], 0
    for hunk in file_hunks:  # type: ignore[attr-defined]
        start = hunk.old_line - 1 if hunk.old_count else hunk.old_line
        result += old[position:start] + new[hunk.new_line - 1 : hunk.new_line - 1 + hunk.new_count]
        position = start + hunk.old_count
    return result + old[position:]


TEXTS = st.lists(st.sampled_from(["a\n", "b\r\n", "c\n", "\n", "\x0c\u2028d\n"]), max_size=12).map("".join)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=TEXTS, new=st.one_of(TEXTS, TEXTS.map(lambda text: text.removesuffix("\n"))))
def test_the_hunks_lead_from_the_old_lines_to_the_new_ones(
    root: Path, commit: Commit, old: str, new: str
) -> None:
    (root / "a.py").write_bytes(old.encode())
    commit(root)
    (root / "a.py").write_bytes(new.encode())
    files = read_changes(root).files
    assert bool(files) == (old != new)
    for file in files:
        assert file.exact and apply(split_lines(old), split_lines(new), file.hunks) == split_lines(new)
