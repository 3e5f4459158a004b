from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from satchel.settings import WalkOptions
from satchel.walking.walker import WorkTree

Write = Callable[..., Path]


def paths(root: Path, options: WalkOptions | None = None) -> list[str]:
    return [entry.path for entry in WorkTree(root, options).entries().files]


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".satchelignore"])
def test_each_ignore_file_counts_at_every_level(write: Write, name: str) -> None:
    root = write(
        {name: "*.log\n", f"a/{name}": "/x.py\n", "x.py": "", "a/x.py": "", "a/b/x.py": "", "a/b/l.log": ""}
    )
    assert paths(root) == ["a/b/x.py", "x.py"]


def test_a_deeper_file_wins_and_an_ignored_folder_is_never_entered(write: Write) -> None:
    ignores = {".gitignore": "*.log\nout/\n", "a/.gitignore": "!keep.log\n", "out/.gitignore": "!*\n"}
    root = write(ignores | {"a/keep.log": "", "b/keep.log": "", "out/f": ""})
    assert paths(root) == ["a/keep.log"]


def test_satchelignore_wins_over_ignore_in_the_same_folder(write: Write) -> None:
    root = write({".ignore": "*.txt\n", ".satchelignore": "!keep.txt\n", "keep.txt": "", "drop.txt": ""})
    assert paths(root) == ["keep.txt"]


def test_our_files_cannot_bring_back_what_git_ignores(write: Write) -> None:
    root = write({".gitignore": "*.txt\n", ".ignore": "!a.txt\n", "a.txt": "", "b.py": ""})
    assert paths(root) == ["b.py"]


def test_extra_ignores_of_the_caller_always_hold(write: Write) -> None:
    root = write({".ignore": "!a.txt\n", "a.txt": "", "b/c.txt": "", "d.py": ""})
    assert paths(root, WalkOptions(extra_ignores=("*.txt",))) == ["d.py"]


@pytest.mark.parametrize("with_git", [True, False])
def test_info_exclude_counts_with_and_without_the_git_program(
    write: Write, commit: Callable[..., str], monkeypatch: pytest.MonkeyPatch, with_git: bool
) -> None:
    root = write({".gitignore": "!b.tmp\n"})
    commit(root)
    write({".git/info/exclude": "*.tmp\n", "a.tmp": "", "b.tmp": "", "a.py": ""})
    if not with_git:
        monkeypatch.setenv("PATH", "")
    assert paths(root) == ["a.py", "b.tmp"]


def test_our_files_are_applied_on_top_of_git(write: Write, commit: Callable[..., str]) -> None:
    root = write({"a.py": "", "sub/b.py": "", "sub/gen/c.py": ""})
    commit(root)
    write({".gitignore": ".ignore\n", ".ignore": "a.py\n", "sub/.satchelignore": "gen/\n"})
    assert paths(root) == ["sub/b.py"]


def test_a_byte_order_mark_carriage_returns_and_bad_lines_do_no_harm(write: Write) -> None:
    root = write(
        {".gitignore": "\ufeffa.py\r\n!\r\n///\r\n[z-\r\nb.py\r\n", "a.py": "", "b.py": "", "c.py": ""}
    )
    assert paths(root) == ["c.py"]


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".satchelignore"])
@pytest.mark.parametrize("line", ["[z-a].txt", "[9-0]", "a[b-a]/", "![z-a]", "[}|[:alpha:].!"])
def test_a_set_that_cannot_be_read_matches_nothing(write: Write, name: str, line: str) -> None:
    root = write({name: f"{line}\nb.py\n", "a.py": "", "b.py": "", "z.txt": ""})
    assert paths(root) == ["a.py", "z.txt"]


def test_an_ignore_file_that_is_a_symlink_is_not_read(write: Write, tmp_path: Path) -> None:
    root = write({"a.py": ""})
    (tmp_path / "outside").write_text("*.py\n")
    (root / ".ignore").symlink_to(tmp_path / "outside")
    assert paths(root) == ["a.py"]


NAMES = st.sampled_from(["a", "b", "foo", "x.o", "y.log", "keep.o", "a b", "ü"])
FOLDERS = st.lists(st.sampled_from(["a", "b", "foo", "out"]), max_size=3)
LINES = st.sampled_from(
    ["*", "*.o", "!*.o", "/a", "a/", "!a/", "foo/*", "!foo/a", "**/b", "foo/**", "a/**/x.o", "!keep.o", "*/",
     "!*/", "/*", "out/", "!out/", "b/y.log", "# c", "\\#x", "?.o", "[a-f]oo", "!x.o", "**", "a\\ b",
     "out/**/", "y.log  "]
)  # fmt: skip
TREES = st.dictionaries(
    st.tuples(FOLDERS, NAMES).map(lambda pair: "/".join([*pair[0], pair[1]])), st.just(""), max_size=12
)
IGNORES = st.dictionaries(FOLDERS.map("/".join), st.lists(LINES, max_size=4), max_size=3)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=TREES, ignores=IGNORES)
def test_the_plain_walk_finds_what_git_finds(tree: dict[str, str], ignores: dict[str, list[str]]) -> None:
    root = Path(tempfile.mkdtemp(prefix="walk"))
    try:
        _build(root, [*tree], ignores)
        plain = paths(root)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        assert paths(root) == plain
    finally:
        shutil.rmtree(root)


def _build(root: Path, files: list[str], ignores: dict[str, list[str]]) -> None:
    for path in files:
        parents = [root / folder for folder in Path(path).parents]
        if any(parent.is_file() for parent in parents) or (root / path).exists():
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    for folder, lines in ignores.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_text("\n".join(lines) + "\n")
