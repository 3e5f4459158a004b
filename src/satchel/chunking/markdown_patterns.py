"""The line patterns of CommonMark: what does one line of Markdown open or close?

Lines are given without line end and without leading spaces and tabs. Quantifiers are possessive where a line
could otherwise make the matcher try the same characters again and again.
"""

from __future__ import annotations

import re

# White space that is stripped from a title. `str.strip()` would also strip \x1c to \x1f and \x85.
MARKDOWN_SPACE = "\t\n\x0b\x0c\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)

ATX = re.compile(r"(#{1,6})(?:[ \t]|$)")
FENCE = re.compile(r"(`{3,}+)[^`]*$|(~{3,}+)")
LIST_MARKER = re.compile(r"(?:[*+-]|[0-9]{1,9}[.)])(?=[ \t]|$)")
THEMATIC_BREAK = re.compile(r"([*_-])[ \t]*+(?:\1[ \t]*+){2,}+$")
UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")

_RAW_TAGS = "(?ai:script|pre|style|textarea)"
_BLOCK_NAMES = """
address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl
dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend
li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td
tfoot th thead title tr track ul
"""
_BLOCK_TAGS = f"(?ai:{'|'.join(_BLOCK_NAMES.split())})"
_HTML_KINDS = re.compile(  # the number of the group that matched is the kind
    rf"<(?:({_RAW_TAGS}(?=\s|>|$))|(!--)|(\?)|(![A-Za-z])|(!\[CDATA\[)|(/?{_BLOCK_TAGS}(?=\s|/?>|$)))"
)
_ATTRIBUTE_VALUE = r"""(?:[^"'=<>`\x00-\x20]+|'[^']*'|"[^"]*")"""
_ATTRIBUTE = rf"\s+[A-Za-z_:][A-Za-z0-9:._-]*+(?:\s*=\s*{_ATTRIBUTE_VALUE})?"
_LONE_TAG = re.compile(rf"<(?:[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+\s*/?|/[A-Za-z][A-Za-z0-9-]*+\s*)>\s*$")
LONE_TAG_KIND = 7  # the only kind that may not interrupt a paragraph
HTML_CLOSINGS = {  # kinds 6 and 7 have none: they end before a blank line
    1: re.compile(rf"</{_RAW_TAGS}>"),
    2: re.compile("-->"),
    3: re.compile(r"\?>"),
    4: re.compile(">"),
    5: re.compile(r"\]\]>"),
}

# Lines that could be a top-level heading, or that open at any depth what a blank line does not close.
# The literal first character lets the matcher skip from line end to line end.
_EVENT = re.compile(
    r"\n(?: {0,3}+(?:#|(?:=++|-++)[ \t]*+(?=\n|\Z))"
    rf"|[ \t>*+\-0-9.)]*+(?:```|~~~|<(?:[!?]|{_RAW_TAGS})))"
)

_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.)*+)\]:[ \t\n]*+", re.DOTALL)
_ANGLE_DESTINATION = re.compile(r"<(?:[^<>\n\\]|\\.)*+>")
_PLAIN_DESTINATION = re.compile(r"(?:[^\x00-\x20\x7f\\]|\\[^ \n]|\\(?=\n|\Z))++")
_PARENTHESIS = re.compile(r"\\.|[()]")
_TITLE = re.compile(
    r"""[ \t\n]++(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))[ \t]*+(?:\n|\Z)""", re.DOTALL
)
_LINE_REST = re.compile(r"[ \t]*+(?:\n|\Z)")
_REFUSED_SCHEME = re.compile(r"(?i:vbscript|javascript|file|data(?!:image/(?:gif|png|jpeg|webp);)):")


def event_lines(text: str) -> list[int]:
    """Return the indexes of the lines that the scanner has to look at, ascending."""
    padded = "\n" + text
    lines, counted, number = [], 0, 0
    for found in _EVENT.finditer(padded):
        number += padded.count("\n", counted, found.start())
        counted = found.start()
        lines.append(number)
    return lines


def html_kind(rest: str) -> int:
    """Return which of the seven kinds of HTML block a line opens, 0 for none."""
    if rest[0] != "<":
        return 0
    if found := _HTML_KINDS.match(rest):
        return found.lastindex or 0
    return LONE_TAG_KIND if _LONE_TAG.match(rest) else 0


def columns(text: str, origin: int) -> int:
    """Return how many columns the leading white space of a text takes if the text starts at column
    `origin`."""
    column = origin
    for character in text:
        if character == "\t":
            column += 4 - column % 4
        elif character == " ":
            column += 1
        else:
            break
    return column - origin


def definition_length(text: str, start: int) -> int:
    """Return the length of the link reference definition at `start`, line end included; 0 if there is
    none."""
    label = _LABEL.match(text, start)
    if not label or not label[1].strip(MARKDOWN_SPACE):
        return 0
    after = _destination_end(text, label.end())
    if not after:
        return 0
    found = _TITLE.match(text, after) or _LINE_REST.match(text, after)
    return found.end() - start if found else 0


def _destination_end(text: str, start: int) -> int:
    """Return the position after the link destination at `start`, 0 if there is none."""
    if text.startswith("<", start):
        angle = _ANGLE_DESTINATION.match(text, start)
        return angle.end() if angle else 0
    plain = _PLAIN_DESTINATION.match(text, start)
    if not plain or _REFUSED_SCHEME.match(plain[0]):
        return 0
    depth = 0
    for found in _PARENTHESIS.finditer(text, start, plain.end()):
        if found[0] == "(":
            depth += 1
        elif found[0] == ")":
            if not depth:
                return found.start() if found.start() > start else 0
            depth -= 1
    return 0 if depth else plain.end()
