from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from satchel.settings import WalkOptions
from satchel.walking.file_filter import printable
from satchel.walking.ignore_rules import IgnoreRules
from satchel.walking.work_tree import WorkTree

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
    root = write({name: f"{line}\nb.py\n", "a.py": "", "b.py": "", "y.txt": ""})
    assert paths(root) == ["a.py", "y.txt"]


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


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


ODD_NAMES = ["a", "b", "ab", "a b", "z", "]", "-", "^a", "[a]", "a-b", "é", "x.o", "aab", "B", "1", "a*b",
             "!a", " a", "a ", "a\u00a0", b"\xff"]  # fmt: skip
ODD_FOLDERS = ["", "a", "b", "a/b", "a/b/a", "ab", "é", "b/a/b", "[a]"]
TOKENS = st.sampled_from(
    ["a", "b", "*", "?", "/", "**", "**/", "/**", "***", "[a", "]", "[", "-", "^", "!", "\\", "z", "x.o", "é",
     "[!a]", "[a-b]", "[b-a]", "[[:alpha:]]", "[[:punct:]]", "[[:foo:]]", "[^/]", "[]a]", "[a/b]", "[\\]]",
     " ", "\\ ", "\\]", "\\/", "*/", "#", "\u00a0", "\t"]
)  # fmt: skip
ODD_LINES = st.tuples(st.sampled_from(["", "", "", "!"]), st.lists(TOKENS, min_size=1, max_size=6)).map(
    lambda parts: parts[0] + "".join(parts[1])
)


@pytest.fixture(scope="module")
def odd_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of names that patterns are made of; the repository that git needs is outside of it."""
    base = tmp_path_factory.mktemp("odd")
    for folder in ODD_FOLDERS:
        (base / "tree" / folder).mkdir(parents=True, exist_ok=True)
    for folder in ODD_FOLDERS:
        for name in ODD_NAMES:
            path = os.path.join(os.fsencode(base / "tree" / folder), os.fsencode(name))
            if not os.path.exists(path):
                Path(os.fsdecode(path)).write_text("x")
    subprocess.run(["git", "init", "-q", "--bare", str(base / "git")], check=True)
    return base


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(ODD_LINES, min_size=1, max_size=3), deeper=st.lists(ODD_LINES, max_size=1))
def test_any_line_matches_what_it_matches_to_git(odd_tree: Path, lines: list[str], deeper: list[str]) -> None:
    root = odd_tree / "tree"
    files = {root / ".gitignore": lines, root / "a" / ".gitignore": deeper}
    for file, content in files.items():
        file.write_text("\n".join(content) + "\n")
    own = WorkTree(root).entries()
    seen = {entry.path for entry in own.files} | {skip.path for skip in own.skipped}
    command = ["git", f"--git-dir={odd_tree / 'git'}", f"--work-tree={root}", "ls-files", "-o", "-z"]
    listed = subprocess.run(
        [*command, "--exclude-per-directory=.gitignore"], cwd=root, check=True, capture_output=True
    ).stdout
    theirs = {printable(os.fsdecode(path)) for path in listed.split(b"\0") if path}
    own_alone = [".gitignore", "a/.gitignore"]  # hidden files are reported whatever the rules say
    assert seen - {*own_alone} == theirs - {*own_alone}


# To pathspec, `!` reaches into folders, and `out/**/` also names the folder `out` itself, which git keeps.
PLAIN_LINES = LINES.filter(lambda line: line[0] not in "#!" and not line.rstrip().endswith("**/"))


@settings(max_examples=80)
@given(lines=st.lists(PLAIN_LINES, max_size=4), place=FOLDERS, name=NAMES)
def test_plain_lines_match_a_file_as_pathspec_says(lines: list[str], place: list[str], name: str) -> None:
    rules = IgnoreRules((), lambda folder, name: None, lines)
    folders = ["/".join(place[:depth]) for depth in range(len(place) + 1)]
    entries = [f"{folder}/" for folder in folders[1:]] + ["/".join([*place, name])]
    ours = any(rules.ignores(folder, entry) for folder, entry in zip(folders, entries, strict=True))
    assert ours is GitIgnoreSpec.from_lines(lines, backend="simple").match_file(entries[-1])


def test_a_question_mark_is_one_byte_as_it_is_to_git(write: Write, commit: Callable[..., str]) -> None:
    files = {".gitignore": "?.md\n", "é.md": "", "e.md": "", "x.py": ""}
    root = write(files)
    assert paths(root) == ["x.py", "é.md"]
    commit(root)
    assert paths(root) == ["x.py", "é.md"]
