"""Skeletons: the heads of all definitions, as real lines of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine

from satchel.packing.excerpts import skeleton
from satchel.storage.open_files import OpenFile, OpenFiles

PYTHON = """\
class Order(
    Base,
):
    '''Doc.'''

    @property
    def total(
        self,
        rate: int,  # in cents
        # of today
        *,
        kind: dict[str, int],
    ) -> int:
        return 1
    low, high = 1, 2
"""
LONG_HEAD = (
    "def many(\n"
    + "".join(f"    parameter_{n}: int = {n},\n" for n in range(40))
    + ") -> int:\n    return 1\n"
)
RUST = "fn order<T>(\n    rate: u8,\n) -> u8\n// of today\nwhere\n    T: Copy,\n{\n    1\n}\n"
SAMPLES = Path(__file__).parent.parent / "languages" / "samples"


def opened(root: Path, path: str, text: str | bytes) -> OpenFile:
    file = OpenFiles(memory_engine(make_tree(root, {path: text})).snapshot()).get(path)
    assert file is not None
    return file


def of_file(file: OpenFile) -> str:
    return skeleton(file.lines, 1, file.record.line_count, file.symbols)


def test_heads_of_several_lines_are_shown_up_to_the_body(tmp_path: Path) -> None:
    lines = PYTHON.splitlines(True)
    expected = [*lines[0:3], *lines[6:13]]
    assert of_file(opened(tmp_path, "a.py", PYTHON)).startswith("".join(expected))


def test_a_head_goes_on_behind_its_brackets_and_over_comments(tmp_path: Path) -> None:
    assert of_file(opened(tmp_path, "a.rs", RUST)) == RUST.removesuffix("{\n    1\n}\n")


def test_a_line_with_two_definitions_is_shown_once(tmp_path: Path) -> None:
    file = opened(tmp_path, "a.go", "package a\n\nvar low, high = 1, 2\n\nfunc F() {}\n")
    assert of_file(file) == "var low, high = 1, 2\nfunc F() {}\n"


def test_a_head_longer_than_a_kept_signature_is_shown_to_its_end(tmp_path: Path) -> None:
    assert of_file(opened(tmp_path, "a.py", LONG_HEAD)) == LONG_HEAD.removesuffix("    return 1\n")


def test_a_head_is_not_shown_beyond_the_lines_asked_for(tmp_path: Path) -> None:
    file = opened(tmp_path, "a.py", PYTHON)
    assert skeleton(file.lines, 6, 8, file.symbols) == "    def total(\n        self,\n"


def test_headings_are_the_skeleton_of_a_document(tmp_path: Path) -> None:
    assert of_file(opened(tmp_path, "a.md", "# A\n\ntext\n\n## B\n\nmore\n")) == "# A\n## B\n"


def test_without_definitions_the_first_line_with_text_is_shown(tmp_path: Path) -> None:
    file = opened(tmp_path, "a.txt", "\n\nfirst\nsecond\n")
    assert of_file(file) == "first\n" and skeleton(file.lines, 1, 2, ()) == "\n"


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir() if path.suffix != ".outline"))
def test_a_skeleton_is_lines_of_the_file_in_order_with_every_definition(tmp_path: Path, name: str) -> None:
    file = opened(tmp_path, name, (SAMPLES / name).read_bytes())
    shown = of_file(file)
    rest = iter(file.lines)
    assert all(line in rest for line in shown.splitlines(True))
    assert all(file.lines[symbol.start_line - 1] in shown for symbol in file.symbols)
