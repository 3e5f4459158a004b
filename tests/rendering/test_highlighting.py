"""Colours of code: every language gives back its text, and the parts that matter have their kind."""

from __future__ import annotations

import re

import pytest
from builders import make_item, make_pack

from satchel import plugins
from satchel.packing.pack import Role
from satchel.rendering.highlighting import TokenKind, highlight
from satchel.rendering.packs import PACK_FORMATS, context, terminal
from satchel.rendering.style import Style

EXPECTED = [
    (
        "python",
        "def f(a: int) -> str:  # why\n    return f'x{a}' + g.h(1.5)",
        {"def": "k", "f": "f", "int": "t", "# why": "c", "h": "f", "1.5": "n", "return": "k", "f'x": "s"},
    ),
    (
        "typescript",
        "export class A<T> { b(x: number) { return `a${x}`; } }",
        {"export": "k", "A": "t", "b": "f", "number": "t", "`a": "s"},
    ),
    (
        "go",
        'func (s *T) F(a int) { fmt.Print("x", 1) } // c',
        {"func": "k", "T": "t", "F": "f", "int": "t", "Print": "f", '"x"': "s", "1": "n", "// c": "c"},
    ),
    (
        "rust",
        'pub fn f(x: &str) -> u32 { println!("{}", 1u8) }',
        {"pub": "k", "f": "f", "str": "t", "println": "f", '"{}"': "s", "1u8": "n"},
    ),
    (
        "java",
        "class A { int f(String s) { return new B(s).c(1L); } }",
        {"class": "k", "A": "t", "f": "f", "String": "t", "c": "f", "1L": "n"},
    ),
    (
        "c",
        '#define N 1\nint main(void) { return f("x"); } /* c */',
        {"#define": "k", "int": "t", "main": "f", '"x"': "s", "/* c */": "c"},
    ),
    ("ruby", "def a(b)\n  @x = 'y'\nend # c", {"def": "k", "a": "f", "@x": "a", "'y'": "s", "# c": "c"}),
    ("json", '{"a": [1, true, "x"]}', {'"a"': "a", "1": "n", "true": "k", '"x"': "s"}),
    ("yaml", 'a: 1\nb: "s" # c', {"a": "a", "1": "n", '"s"': "s", "# c": "c"}),
    ("css", ".a { color: #fff; }", {"a": "t", "color": "a", "#fff": "n"}),
    ("markdown", "# Head\n\n`code`", {"# Head": "k", "`code`": "s"}),
    ("sql", "SELECT a FROM b -- c", {"SELECT": "k", "FROM": "k", "-- c": "c"}),
]


@pytest.mark.parametrize(("language", "text", "kinds"), EXPECTED, ids=[row[0] for row in EXPECTED])
def test_the_parts_of_a_language_have_their_kinds(language: str, text: str, kinds: dict[str, str]) -> None:
    found = {token.text: token.kind.value for line in highlight(text, language) for token in line}
    assert {part: found.get(part) for part in kinds} == kinds


TEXTS = ("", "\n", "x", 'def f(:\n  "never closed\n\n', "é \U0001f600 'ü'\n\tλ = 1\n", "a = 1\n" * 8_000)


@pytest.mark.parametrize("language", plugins.names("language"))
def test_tokens_are_the_text(language: str) -> None:
    for text in TEXTS:
        lines = highlight(text, language)
        assert "\n".join("".join(token.text for token in line) for line in lines) == text


@pytest.mark.parametrize("text", ["(" * 30_000, "a" * 200_000, "/*" * 5_000], ids=["deep", "long", "open"])
def test_text_that_could_stall_a_parser_stays_plain(text: str) -> None:
    kinds = {token.kind for line in highlight(text, "typescript") for token in line}
    assert kinds == {TokenKind.PLAIN}


def test_a_terminal_shows_the_same_colours_and_a_pipe_none() -> None:
    text = "def f():\n    return 1  # why"
    plain, coloured = Style().code(text, "a.py"), Style(colour=True).code(text, "a.py")
    assert plain == text.split("\n")
    assert coloured[0] == "\x1b[35mdef\x1b[0m \x1b[34mf\x1b[0m():" and "\x1b[2m# why\x1b[0m" in coloured[1]
    assert [re.sub(r"\x1b\[\d*m", "", line) for line in coloured] == plain


def test_a_painted_review_marks_its_changed_lines_and_is_read_back() -> None:
    added = make_item("a.py", "x = 1\ny = 2\n", start_line=4, changed=((5, 5),))
    removed = make_item(
        "a.py", "z = 3\n", start_line=9, changed=((9, 9),), relationship=("removed",), role=Role.RELATED
    )
    text = terminal.render(make_pack(added, removed))
    painted = terminal.paint(text, Style(colour=True))
    assert (
        "\x1b[2m  4 │\x1b[0m" in painted
        and "\x1b[32m  5 │\x1b[0m" in painted
        and "\x1b[31m  9 │\x1b[0m" in painted
    )
    for name in ("terminal", "context", "markdown", "xml"):
        renderer = PACK_FORMATS.get(name)
        cited = renderer.read(renderer.render(make_pack(added, removed)))
        assert cited is not None and [one.changed for one in cited.citations] == [((5, 5),), ((9, 9),)]
    assert re.search(r"a\.py:4-5 #\w+ \+5 ", context.render(make_pack(added)))


@pytest.mark.parametrize(
    ("language", "excerpt", "inside", "outside"),
    [
        ("python", 'which is not for the class\nand more.\n"""\ndef f():\n    return 1', "for", "return"),
        ("python", 'def f():\n    """Sign it and\n    if it is not signed, with care', "with", "def"),
        ("python", "Subclasses define what is\nand more of these, for a while", "for", ""),
        ("c", " * while the lock is held\n * by others\n */\nint f(void) { return 1; }", "while", "return"),
        ("java", "/** Give it\n * for a while", "for", ""),
    ],
)
def test_an_excerpt_that_begins_or_ends_inside_a_string_or_comment(
    language: str, excerpt: str, inside: str, outside: str
) -> None:
    rows = highlight(excerpt, language)
    assert "\n".join("".join(token.text for token in row) for row in rows) == excerpt
    tokens = [token for row in rows for token in row]
    assert {token.kind.value for token in tokens if inside in token.text} <= {"s", "c"}
    if outside:
        assert TokenKind.KEYWORD in {token.kind for token in tokens if token.text == outside}


def test_an_excerpt_of_unfinished_code_stays_code() -> None:
    tokens = [
        token
        for row in highlight("    self,\n    name: str,\n) -> None:\n    return f(", "python")
        for token in row
    ]
    assert TokenKind.STRING not in {token.kind for token in tokens}
