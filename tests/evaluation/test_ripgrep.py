"""The baselines: what is looked for, which windows and files are read, and in which order."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import Repository, make_engine, make_tree, memory_engine

from satchel.engine import Engine
from satchel.errors import Unsupported
from satchel.evaluation.ripgrep import Ripgrep, WorkCopy, find_ripgrep, patterns_of

NUMBERED = "".join(f"line_{number} = {number}\n" for number in range(1, 101))
FILES = {
    "b.py": NUMBERED.replace("line_50 =", "drawer =").replace("line_90 =", "drawer ="),
    "a.py": NUMBERED.replace("line_5 =", "drawer ="),
    "till.py": "Drawer = 1\nopen_till = 2\n",
    "tests/test_drawer.py": "drawer = 1\n",
    "drawer.md": "The drawer.\n",
}
# Finds fixed strings as rg does with the options that are used, and prints them in the same form.
STAND_IN = f"""#!{sys.executable}
import re, sys
from pathlib import Path
words = sys.argv[1:]
pattern = re.escape(words[words.index("--regexp") + 1])
if "--word-regexp" in words:
    pattern = rf"(?<!\\w){{pattern}}(?!\\w)"
flags = re.IGNORECASE if "--ignore-case" in words else 0
for path in sorted(item for item in Path(".").rglob("*") if item.is_file()):
    for number, line in enumerate(path.read_text().split("\\n"), 1):
        if re.search(pattern, line, flags):
            print(f"./{{path}}\\0{{number}}:{{line}}")
"""


@pytest.fixture(params=["stand-in", "real"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The path of a program that answers as ripgrep does; the real one where it is installed."""
    if request.param == "stand-in":
        return stand_in(tmp_path)
    return find_ripgrep() or pytest.skip("rg is not installed")


def stand_in(folder: Path) -> str:
    path = folder / "bin" / "rg"
    make_tree(path.parent, {"rg": STAND_IN})
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with memory_engine(make_tree(tmp_path / "work", FILES)) as engine:
        yield engine


def read(engine: Engine, program: str, message: str, *, whole: bool = False) -> list[str]:
    """Return the citations of what is read."""
    snapshot = engine.snapshot()
    with WorkCopy() as copy:
        copy.update(snapshot)
        ripgrep = Ripgrep(program, copy)
        answers = (ripgrep.whole_files if whole else ripgrep.windows)(message, snapshot)
        return [answer.text.split("\n")[0] for answer in answers]


@pytest.mark.parametrize(
    ("message", "identifiers", "words"),
    [
        ("Fix the open_till of HTTPServer", ["open_till", "HTTPServer"], []),
        ("Fix `till` when empty", ["till"], ["empty"]),
        ("Use 'no such drawer' again", ["no such drawer", "such", "drawer"], []),
        ("till.open: wrong lamp", ["till.open", "till", "open"], ["lamp"]),
        ("Fix a-b-drawer, see https://example.org/x_y", [], ["drawer"]),
        ("The bell does not ring", [], ["bell", "ring"]),
        ("Fixed it for all", [], []),
    ],
)
def test_identifiers_come_first_and_then_telling_words(
    message: str, identifiers: list[str], words: list[str]
) -> None:
    assert patterns_of(message) == (identifiers, words)


def test_no_more_than_twelve_patterns_are_tried() -> None:
    names = [f"name_{number}" for number in range(20)]
    assert patterns_of(" ".join(names)) == (names[:12], [])


def test_windows_have_twenty_lines_in_the_order_of_paths(engine: Engine, program: str) -> None:
    assert read(engine, program, "`drawer`") == ["a.py:1:15", "b.py:41:60", "b.py:81:100"]


def test_windows_that_touch_are_one(engine: Engine, program: str) -> None:
    assert read(engine, program, "`line_30` and `line_49`")[:2] == ["a.py:21:40", "b.py:21:40"]
    assert read(engine, program, "`line_7`") == ["a.py:1:17", "b.py:1:17"]
    near = make_tree(engine.root, {"c.py": NUMBERED.replace("_3 ", "_x ").replace("_23 ", "_x ")})
    with memory_engine(near) as other:
        assert read(other, program, "`line_x`") == ["c.py:1:33"]


def test_the_rarest_identifier_is_read_first_and_words_in_any_case_last(engine: Engine, program: str) -> None:
    found = read(engine, program, "drawer `line_50` `open_till`")
    assert found[:2] == ["a.py:41:60", "till.py:1:2"]  # one line each, in the order of the message
    assert found[2:] == ["a.py:1:15", "b.py:41:60", "b.py:81:100", "till.py:1:2"]
    assert read(engine, program, "`line_7` `line_50`") == ["a.py:41:60", "a.py:1:17", "b.py:1:17"]


def test_whole_files_come_in_the_order_of_their_first_match(engine: Engine, program: str) -> None:
    found = read(engine, program, "`open_till` `drawer`", whole=True)
    assert found == ["till.py:1:2", "a.py:1:100", "b.py:1:100"]


def test_only_sources_are_there_and_only_what_differs_is_written(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "work")
    repository.commit("One", {"a.py": "A = 1\r\nB = 2\r", "b/c.py": "C = 1\n", "n.md": "# N\n"})
    with make_engine(repository.root) as engine, WorkCopy() as copy:
        engine.refresh()
        copy.update(engine.snapshot())
        assert {path.name for path in copy.root.rglob("*.*")} == {"a.py", "c.py"}
        assert (copy.root / "a.py").read_bytes() == b"A = 1\nB = 2\n"
        before = (copy.root / "a.py").stat().st_mtime_ns, (copy.root / "a.py").stat().st_ino
        (repository.root / "b" / "c.py").unlink()
        (repository.root / "b").rmdir()
        make_tree(repository.root, {"b.py": "D = 1\n", "b": b"#!/bin/sh\n"})
        engine.refresh()
        copy.update(engine.snapshot())
        assert ((copy.root / "a.py").stat().st_mtime_ns, (copy.root / "a.py").stat().st_ino) == before
        assert (copy.root / "b.py").read_text() == "D = 1\n" and not (copy.root / "b").is_dir()
    assert not copy.root.exists()


def test_a_program_that_fails_is_a_typed_error(engine: Engine, tmp_path: Path) -> None:
    path = Path(stand_in(tmp_path))
    path.write_text("#!/bin/sh\necho no such option >&2\nexit 2\n")
    with pytest.raises(Unsupported, match="ripgrep failed") as caught:
        read(engine, str(path), "`drawer`")
    assert "no such option" in caught.value.message


def test_a_program_in_the_current_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path)
    monkeypatch.chdir(tmp_path / "bin")
    monkeypatch.setenv("PATH", os.curdir)
    assert find_ripgrep() == ""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_ripgrep() == str(tmp_path / "bin" / "rg")
