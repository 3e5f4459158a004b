"""A source that carries an image or a table on one line: indexed whole, never poured out over a reader."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from builders import make_tree, memory_engine, run_cli

from satchel.chunking import parse_source
from satchel.lines import split_lines

IMAGE_CHARS = 20_000
FUNCTION = "def paint_{0}(canvas):\n    colour = canvas.colour\n    return canvas.fill(colour, {0})\n\n\n"
LOGO = 'def logo_of_the_painter(canvas):\n    data = (\n        "data:image/png;base64,{}"\n    )\n    return canvas.show(data)\n'


def source() -> str:
    functions = [FUNCTION.format(number) for number in range(150)]
    image = "iVBORw0KGgo+/" * (IMAGE_CHARS // 13)
    return "".join([*functions[:75], LOGO.format(image), "\n\n", *functions[75:]])


def test_every_line_is_in_one_chunk_and_the_long_one_stays_whole(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"paint.py": source()}))
    lines = split_lines(source())
    chunks = engine.snapshot().chunks("paint.py")
    held = [number for chunk in chunks for number in range(chunk.start_line, chunk.end_line + 1)]
    assert len(held) == len(set(held))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(held)


def test_a_hit_shows_the_beginning_of_a_long_line(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"paint.py": source()}))
    hits, _ = engine.search("logo of the painter data image png base64")
    assert hits and all(len(hit.snippet) <= 480 for hit in hits)


@pytest.mark.parametrize("command", ["pack", "context_pack", "build_context_pack"])
def test_a_pack_shows_what_is_around_a_long_line_and_not_the_line(tmp_path: Path, command: str) -> None:
    root = make_tree(tmp_path, {"paint.py": source()})
    question = "logo_of_the_painter data image png"
    done = run_cli(command, question, "--budget-tokens", "50000", "--segment", root)
    shown = done.stdout.decode()
    assert "def logo_of_the_painter" in shown, done.stderr
    assert max(map(len, shown.split("\n"))) < 5_000


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", 'x = "{}"\n'),
        ("javascript", "const x = `{}`;\n"),
        ("tsx", '<path d="{}" />;\n'),
        ("elixir", '@x "{}"\n'),
        ("go", "var x = `{}`\n"),
        ("css", ".x {{ background: url(data:{}) }}\n"),
        ("ruby", "x = '{}'\n"),
    ],
)
@pytest.mark.parametrize("data", ["iVBORw0KGgo+/", "M10.5 3.2c-1.1 0,", "a|b?(c)*[d]", "<>%@!?^~"])
def test_a_long_line_does_not_stall_the_parser(language: str, line: str, data: str) -> None:
    text = line.format(data * (48_000 // len(data)))
    started = time.process_time()
    parsed = parse_source(text, language)
    assert time.process_time() - started < 2
    assert "".join(chunk.text for chunk in parsed.chunks) == text
