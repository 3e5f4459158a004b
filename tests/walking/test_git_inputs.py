"""A remembered walk of a git work tree stands exactly as long as git would say the same again."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_stat_cache import settle_early, unchanged

from satchel.walking import watermark
from satchel.walking.git_inputs import find_git_program
from satchel.walking.work_tree import WorkTree

FILES: dict[str, str | bytes] = {
    "a.py": "x = 1\n",
    "pkg/b.py": "y = 2\n",
    "pkg/image.png": b"\x89PNG",
    ".gitignore": "*.log\nbuild/\n/dist/\n",
    "pkg/.gitattributes": "*.py text\n",
    ".hidden/kept.txt": "h\n",
    "dist/tracked.js": "var a;\n",
    "build/out.o": "o\n",
    "large.txt": b"x" * (2 * 1024 * 1024 + 1),
}
_TICK_SECONDS = 0.02  # change times move on in steps of a few milliseconds
_IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def git(root: Path, *args: str) -> str:
    command = ["git", *_IDENTITY, "-c", "protocol.file.allow=always", *args]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def edit(path: str, text: str = "other\n") -> Callable[[Path], object]:
    def change(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    return change


def same_size_and_time(root: Path) -> None:
    file = root / "pkg/b.py"
    before = file.stat()
    file.write_text("y = 3\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def asked(*args: str) -> Callable[[Path], object]:
    return lambda root: git(root, *args)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a tracked file is edited": edit("pkg/b.py"),
    "a tracked file has other content of the same size and time": same_size_and_time,
    "a tracked file is deleted": lambda root: (root / "a.py").unlink(),
    "a tracked file becomes executable": lambda root: (root / "a.py").chmod(0o755),
    "a file that no index holds is edited": edit("pkg/image.png"),
    "a hidden file is edited": edit(".hidden/kept.txt"),
    "a tracked file in an ignored folder is edited": edit("dist/tracked.js"),
    "a large file grows": edit("large.txt", "x" * (3 * 1024 * 1024)),
    "a file is added": edit("pkg/new.py"),
    "a file is added to an empty folder": edit("empty/new.py"),
    "an untracked file is edited": edit("untracked.py"),
    "an ignore file has other rules": edit(".gitignore", "*.log\n"),
    "an ignore file is added": edit("pkg/.gitignore", "*.py\n"),
    "our own rules are added": edit("pkg/.satchelignore", "b.py\n"),
    "our own rules are added in an ignored folder": edit("dist/.ignore", "*.js\n"),
    "the excludes of the repository have other rules": edit(".git/info/exclude", "untracked.py\n"),
    "attributes have other rules": edit("pkg/.gitattributes", "*.py -text\n"),
    "the attributes of the repository have rules": edit(".git/info/attributes", "* -text\n"),
    "a file is staged": asked("add", "untracked.py"),
    "a file is no longer tracked": asked("rm", "-q", "--cached", "a.py"),
    "a commit without changes": asked("commit", "-q", "--allow-empty", "-m", "y"),
    "another branch of the same files": asked("checkout", "-q", "other"),
    "a detached head": asked("checkout", "-q", "--detach", "HEAD~1"),
    "the ref of the head moves": asked("update-ref", "refs/heads/main", "refs/heads/other"),
    "a symbolic head": asked("symbolic-ref", "HEAD", "refs/heads/nowhere"),
    "refs are packed, then one moves": lambda root: [
        git(root, "pack-refs", "--all"),
        git(root, "update-ref", "refs/heads/main", "refs/heads/other"),
    ],
    "a setting": asked("config", "core.fileMode", "false"),
    "the user's settings": edit("../home.config", "[core]\n\tfileMode = false\n"),
    "an included file appears": edit("../included.config", "[core]\n\tfileMode = false\n"),
    "the work tree is elsewhere": asked("config", "core.worktree", "/"),
    "the repository is gone": lambda root: (root / ".git").rename(root.parent / "away.git"),
    "a stash": lambda root: [
        edit("pkg/b.py")(root),
        git(root, "stash", "-q"),
        git(root, "stash", "pop", "-q"),
    ],
    "a repository appears inside": lambda root: git(root, "init", "-q", "empty"),
    "a repository inside is gone": lambda root: (root / "nested/.git").rename(root / "nested/away"),
    "a repository inside is broken": lambda root: (root / "nested/.git/HEAD").unlink(),
    "a submodule is gone": lambda root: (root / "module").rename(root.parent / "module"),
    "a git file is a link": lambda root: [
        (root / ".git/HEAD").rename(root.parent / "HEAD"),
        (root / ".git/HEAD").symlink_to(root.parent / "HEAD"),
    ],
}


@pytest.fixture
def project(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with untracked files, a branch, a nested repository and a submodule."""
    settle_early(monkeypatch)
    root = write(FILES)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(root.parent / "home.config"))
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "include.path", str(root.parent / "included.config"))
    git(root, "add", "-f", "dist/tracked.js")
    module = write({"m.py": "m = 1\n"}, root.parent / "library")
    git(module, "init", "-q", "-b", "main")
    git(module, "add", "-A")
    git(module, "commit", "-q", "-m", "x")
    git(root, "submodule", "--quiet", "add", str(module), "module")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")
    git(root, "branch", "other")
    git(root, "commit", "-q", "--allow-empty", "-m", "y")
    (root / "empty").mkdir()
    write({"untracked.py": "u = 1\n", "nested/n.py": "n = 1\n"}, root)
    git(root / "nested", "init", "-q", "-b", "main")
    time.sleep(_TICK_SECONDS)
    return root


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    (tmp_path / "index").mkdir()
    time.sleep(_TICK_SECONDS)
    return tmp_path / "index" / "context.walk"


def remember(root: Path, memory: Path) -> None:
    tree = WorkTree(root)
    tree.save_stat_cache(memory, "k", tree.entries())
    assert memory.exists()


def known(root: Path, memory: Path) -> dict[str, object] | None:
    return unchanged(WorkTree(root), memory)


def test_an_unchanged_repository_stands_and_has_the_watermark_that_git_gives(
    project: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(project, memory)
    said = watermark.as_values(watermark.compute(project))
    monkeypatch.setattr(subprocess, "Popen", None)  # git is not asked
    assert known(project, memory) == said


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_repository_does_not_stand(project: Path, memory: Path, name: str) -> None:
    remember(project, memory)
    CHANGES[name](project)
    assert known(project, memory) is None


def test_what_git_ignores_and_writes_for_itself_changes_nothing(project: Path, memory: Path) -> None:
    remember(project, memory)
    edit("build/deep/other.o")(project)
    edit(".git/FETCH_HEAD")(project)
    edit(".git/objects/new")(project)
    assert known(project, memory)


@pytest.mark.parametrize("name", ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"])
def test_other_variables_do_not_stand(
    project: Path, memory: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(project, memory)
    monkeypatch.setenv(name, str(project.parent))
    assert known(project, memory) is None


def test_another_git_program_does_not_stand(
    project: Path, memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(project, memory)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(find_git_program())
    assert known(project, memory)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert known(project, memory) is None


@pytest.mark.parametrize(
    "change", [edit("../.gitignore", "*.py\n"), edit("../pkg/.gitignore", "b.py\n"), asked("init", "-q")]
)
def test_a_folder_inside_a_repository_depends_on_what_is_above_it(
    project: Path, memory: Path, change: Callable[[Path], object]
) -> None:
    remember(project / "pkg", memory)
    assert known(project / "pkg", memory)
    change(project / "pkg")
    assert known(project / "pkg", memory) is None


def test_a_linked_work_tree_has_a_head_and_an_index_of_its_own(project: Path, memory: Path) -> None:
    linked = project.parent / "linked"
    git(project, "worktree", "add", "-q", str(linked), "other")
    time.sleep(_TICK_SECONDS)
    remember(linked, memory)
    edit("pkg/b.py")(project)
    git(project, "commit", "-q", "-am", "main moves on")
    assert known(linked, memory)
    git(linked, "commit", "-q", "--allow-empty", "-m", "this one moves on")
    assert known(linked, memory) is None


def test_what_changed_just_before_the_walk_is_not_remembered(
    project: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(project.parent / "home.config"))
    git(project, "commit", "-q", "--allow-empty", "-m", "z")
    tree = WorkTree(project)
    tree.save_stat_cache(memory, "k", tree.entries())
    assert not memory.exists()


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "remove", "ignore", "add", "commit", "stash", "checkout", "reset"]),
        st.sampled_from(["a.py", "pkg/b.py", "pkg/new.py", "dist/tracked.js", "build/x.py"]),
    ),
    min_size=1,
    max_size=3,
)


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=_STEPS)
def test_whatever_happens_a_repository_that_stands_is_as_git_says(
    project: Path, memory: Path, steps: list[tuple[str, str]]
) -> None:
    time.sleep(_TICK_SECONDS)
    before = WorkTree(project).entries()
    remember(project, memory)
    for step, path in steps:
        _do(project, step, path)
    found = known(project, memory)
    if found is not None:
        assert WorkTree(project).entries() == before
        assert found == watermark.as_values(watermark.compute(project))


def _do(root: Path, step: str, path: str) -> None:
    if step == "write":
        edit(path, f"{time.time_ns()}\n")(root)
    elif step == "ignore":
        edit(f"{Path(path).parent}/.gitignore", f"{Path(path).name}\n")(root)
    elif step == "remove":
        (root / path).unlink(missing_ok=True)
    else:
        commands = {
            "add": ["add", "-A", "pkg"],
            "commit": ["commit", "-q", "--allow-empty", "-am", "s"],
            "stash": ["stash", "-q"],
            "checkout": ["checkout", "-q", "-f", "other"],
            "reset": ["reset", "-q", "--hard"],
        }
        with suppress(subprocess.CalledProcessError):  # git refuses a step that makes no sense
            git(root, *commands[step])
