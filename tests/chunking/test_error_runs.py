from __future__ import annotations

import time

import pytest
from exactness import assert_exact

from satchel.chunking import parse_source
from satchel.chunking.error_runs import LONGEST_TRUSTED

LANGUAGES = ["python", "ruby", "c", "cpp", "csharp", "go", "java", "zig"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "line", ["<!--\n", "<!-- a note -->\r\n", "  <a\n\n", "%a\n", "<!--\r", "<!--\n" * 250 + "a\n"]
)
def test_lines_that_are_no_code_become_windows_without_a_stall(language: str, line: str) -> None:
    text = line * (15_000 // len(line))
    start = time.process_time()
    parsed = parse_source(text, language)
    assert time.process_time() - start < 4  # the parsers take from ten seconds to minutes
    assert_exact(text, parsed.chunks)


@pytest.mark.parametrize("around", ['PAGE = """\n{}"""\n', "def page():\n    return '''\n{}'''\n"])
def test_the_same_lines_in_a_string_leave_the_code_around_them_as_it_is(around: str) -> None:
    text = around.format("  <li>a</li>\n" * 3 * LONGEST_TRUSTED) + "\n\ndef after():\n    return 1\n"
    assert parse_source(text, "python").symbols[-1].qualified_name == "after"


def test_decorators_in_any_number_are_code() -> None:
    text = "@a\n" * 3 * LONGEST_TRUSTED + "def decorated():\n    return 1\n"
    assert [symbol.name for symbol in parse_source(text, "python").symbols] == ["decorated"]
