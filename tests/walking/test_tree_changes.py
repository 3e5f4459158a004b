"""A look at what changed gives the index of a walk, also look after look, and takes no walk for a few files."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import dump, git, git_repo, make_engine, make_tree, memory_engine

from satchel.walking import git_command, ignore_rules, stamp_filter, stat_cache, watermark
from satchel.walking.work_tree import WorkTree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows keeps no change time that a look could use")

TICK_SECONDS = 0.02
ROUNDS = 8
FILES = {
    ".gitignore": "*.log\nbuild/\n",
    "a.py": "def first():\n    return 1\n",
    "b.md": "# B\n\nText.\n",
    "pkg/__init__.py": "",
    "pkg/c.py": "from a import first\n\n\ndef third():\n    return first()\n",
    "pkg/deep/d.ts": "export function fourth(): number {\n  return 4;\n}\n",
    "pkg/left.min.js": "var a;\n",
    "build/out.py": "x = 1\n",
    "vendor/lib.py": "def vendored():\n    return 0\n",
    "_ctx/notes.md": "# Notes\n",
}
NAMES = (
    "a.py",
    "b.md",
    "pkg/c.py",
    "pkg/deep/d.ts",
    "pkg/new.py",
    "new.md",
    "x.log",
    "pkg/y.log",
    "pkg/n.min.js",
)
Step = Callable[[Path, str], object]
STEPS: dict[str, Step] = {
    "write": lambda root, path: make_tree(root, {path: f"def made_{time.time_ns()}():\n    return 0\n"}),
    "replace": lambda root, path: [
        (root / "new.part").write_text(f"def put_{time.time_ns()}():\n    return 0\n"),
        (root / "new.part").replace(root / path),
    ],
    "remove": lambda root, path: (root / path).unlink(missing_ok=True),
    "touch": lambda root, path: (root / path).exists() and os.utime(root / path),
    "link": lambda root, path: [(root / path).unlink(missing_ok=True), (root / path).symlink_to("a.py")],
    "rename": lambda root, path: (root / path).exists() and (root / path).rename(root / "pkg/moved.py"),
    "come and go": lambda root, path: [
        (root / "pkg/t.py").write_text("t = 1\n"),
        (root / "pkg/t.py").unlink(),
    ],
    "vendored": lambda root, path: make_tree(root, {"vendor/lib.py": f"x = {time.time_ns()}\n"}),
    "beside the index": lambda root, path: make_tree(root, {"_ctx/notes.md": f"# {time.time_ns()}\n"}),
    "a folder": lambda root, path: make_tree(root, {f"made{time.time_ns()}/e.py": "e = 1\n"}),
    "a folder goes": lambda root, path: shutil.rmtree(root / "pkg/deep", ignore_errors=True),
    "an ignored folder goes": lambda root, path: shutil.rmtree(root / "build", ignore_errors=True),
    "a rule": lambda root, path: make_tree(root, {"pkg/.ignore": f"*.t{time.time_ns()}\nnew.py\n"}),
}
# What a step touches besides the file that it is given.
FURTHER = {
    "replace": "new.part",
    "rename": "pkg/moved.py",
    "come and go": "pkg/t.py",
    "vendored": "vendor/lib.py",
    "beside the index": "_ctx/notes.md",
}
GIT_STEPS: dict[str, Step] = {
    "add": lambda root, path: git(root, "add", "-A"),
    "commit": lambda root, path: git(root, "commit", "-qam", "x", "--allow-empty"),
    "stash": lambda root, path: git(root, "stash", "-q"),
    "forget": lambda root, path: git(root, "rm", "-q", "--cached", "--ignore-unmatch", path),
}


@pytest.fixture(params=["plain", "git", "in git"])
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plain folder, a work tree, or a folder inside a work tree."""
    monkeypatch.setattr(stat_cache, "_RACY_NS", 10_000_000)
    monkeypatch.setattr(stat_cache, "_FINE_RACY_NS", 10_000_000)
    monkeypatch.setattr(stamp_filter, "_WORTHWHILE", 1)  # also for a tree as small as this
    root = tmp_path / "project"
    if request.param == "plain":
        return make_tree(root, FILES)
    if request.param == "git":
        return git_repo(root, FILES)
    git_repo(tmp_path, {f"project/{path}": text for path, text in FILES.items()})
    return root


@pytest.mark.parametrize("seed", range(3))
def test_look_after_look_the_index_is_that_of_a_walk(project: Path, seed: int) -> None:
    chance = random.Random(seed)
    in_git = (project / ".git").exists() or (project.parent / ".git").exists()
    steps = STEPS | GIT_STEPS if in_git else STEPS
    usual = ("write", "replace", "remove", "write")
    for _ in range(ROUNDS):
        done = []
        for _ in range(chance.randint(1, 3)):
            name = chance.choice((*usual, chance.choice(list(steps))))
            done.append((name, path := chance.choice(NAMES)))
            steps[name](project, path)
        time.sleep(chance.choice((0, TICK_SECONDS)))  # what changed just now is in doubt
        engine = make_engine(project)
        engine.ensure_fresh()
        assert dump(engine) == dump(memory_engine(project)), done
        mark = watermark.as_values(watermark.compute(project))
        assert engine.state().project_watermark == mark, done


@pytest.mark.parametrize("seed", range(3))
def test_after_looks_at_named_files_alone_the_index_is_that_of_a_walk(project: Path, seed: int) -> None:
    chance = random.Random(seed)
    in_git = (project / ".git").exists() or (project.parent / ".git").exists()
    usual = ("write", "replace", "remove", "touch", *(FURTHER if in_git else ("come and go",)))
    time.sleep(TICK_SECONDS)
    make_engine(project).refresh()
    time.sleep(TICK_SECONDS)
    make_engine(project).ensure_fresh()
    looks = 0
    for _ in range(ROUNDS):
        done = [(chance.choice(usual), chance.choice(NAMES)) for _ in range(chance.randint(1, 2))]
        for name, path in done:
            STEPS[name](project, path)
        time.sleep(chance.choice((0, TICK_SECONDS)))
        engine = make_engine(project)
        named = {path for _, path in done} | {FURTHER.get(name, path) for name, path in done}
        if engine.look_at(sorted(named)):
            engine.refresh()
            looks += 1
        else:
            engine.ensure_fresh()
        assert dump(engine) == dump(memory_engine(project)), done
        mark = watermark.as_values(watermark.compute(project))
        assert engine.state().project_watermark == mark, done
    assert looks > ROUNDS // 2


@pytest.mark.parametrize("step", ["write", "replace", "remove", "come and go"])
def test_a_few_changed_files_take_no_walk(project: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    time.sleep(TICK_SECONDS)
    make_engine(project).refresh()
    time.sleep(TICK_SECONDS)
    make_engine(project).ensure_fresh()
    asked: list[str] = []
    run = git_command.run_git
    monkeypatch.setattr(
        watermark, "run_git", lambda root, args, **more: asked.append(args[0]) or run(root, args, **more)
    )
    monkeypatch.delattr(WorkTree, "entries")
    STEPS[step](project, "pkg/c.py")
    time.sleep(TICK_SECONDS)
    engine = make_engine(project)
    engine.ensure_fresh()
    assert not engine.state().stale
    assert set(asked) <= {"status"} and len(asked) <= 2


def test_a_file_in_a_folder_that_is_left_out_takes_no_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stat_cache, "_FINE_RACY_NS", 10_000_000)
    project = git_repo(tmp_path / "project", FILES | {"vendor/other.py": "x = 1\n"})
    time.sleep(TICK_SECONDS)
    make_engine(project).refresh()
    time.sleep(TICK_SECONDS)
    make_engine(project).ensure_fresh()
    (project / "vendor/lib.py").write_text("x = 2\n")
    assert make_engine(project).look_at(["vendor/lib.py"])
    (project / "vendor/other.py").unlink()  # the folder is reported with the number of its files
    assert not make_engine(project).look_at(["vendor/other.py"])


def test_what_is_edited_again_within_a_tick_is_seen(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time.sleep(TICK_SECONDS)
    make_engine(project).refresh()
    time.sleep(TICK_SECONDS)
    make_engine(project).ensure_fresh()
    monkeypatch.setattr(stat_cache, "_FINE_RACY_NS", 3_600_000_000_000)
    for number in range(4):
        path = project / "a.py"
        before = path.stat()
        path.write_text(f"def first():\n    return {number}\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        engine = make_engine(project)
        engine.ensure_fresh()
        assert engine.snapshot().text("a.py") == path.read_text()


def test_every_file_that_a_walk_takes_rules_from_is_one_that_decides() -> None:
    assert {*ignore_rules.GIT_NAMES, *ignore_rules.OWN_NAMES, ".gitattributes"} == stat_cache.RULE_NAMES
