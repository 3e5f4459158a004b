"""Which files of the repository does a Markdown document link to?

Inline links and reference definitions, outside fences and code spans; images are not links, but a
link around an image is one. Addresses with a scheme and mere anchors lead out of the repository or
nowhere, so they are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from satchel.types import Label, Reference

_STARTS_BLOCK = re.compile(r"[ \t]*(?:[-*+][ \t]|[0-9]+[.)][ \t]|#|\|)")
_TOKEN = re.compile(
    r"(?P<escaped>\\?)(?P<ticks>`++)"  # inside a code span the backslash is text: the run may still close it
    r"|\\."
    r"|(?P<opening>!?\[)"
    r"|\](?:\([ \t\n]*+"
    r"(?:<(?P<angle>[^<>\n]*+)>|(?P<plain>[^\s<>()]*+(?:\([^\s()]*+\)[^\s()]*+)*+))(?=[\s)]))?",
    re.DOTALL,
)
_CANDIDATE = re.compile(r"\]\((?!https?:|#)")  # most links lead out, and most lines need no closer look
_DEFINITION = re.compile(
    r"[ \t>*+-]*+\[(?!\^)(?:[^\[\]\\]|\\.)++\]:[ \t]*+(?:<([^<>]*)>|([^\s<]\S*))[ \t]*(?:[ \t][\"'(].*)?$"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def find_links(lines: Sequence[str], fences: Sequence[tuple[int, int]]) -> list[Reference]:
    """The links of a document, by line; `lines` without line ends, `fences` as (first, after) indexes."""
    visible = list(lines)
    for first, after in fences:
        visible[first:after] = [""] * (after - first)
    found = [*_inline_links(visible), *_definitions(visible)]
    return sorted(found, key=lambda reference: reference.line)


def _inline_links(lines: Sequence[str]) -> Iterator[Reference]:
    done = 0
    for number, line in enumerate(lines):
        if "](" in line and number >= done and _CANDIDATE.search(line):
            first, done = _paragraph(lines, number, done)
            yield from _links_in("\n".join(lines[first:done]), first + 1)


def _paragraph(lines: Sequence[str], number: int, floor: int) -> tuple[int, int]:
    """The lines around one that a link or a code span could reach, none of them below `floor`."""
    first, after = number, number + 1
    while first > floor and not _STARTS_BLOCK.match(lines[first]) and lines[first - 1].strip():
        first -= 1
    while after < len(lines) and lines[after].strip() and not _STARTS_BLOCK.match(lines[after]):
        after += 1
    return first, after


def _links_in(text: str, first_line: int) -> Iterator[Reference]:
    tokens = list(_TOKEN.finditer(text))
    runs = _tick_runs(tokens)
    brackets: list[str] = []
    index = counted = 0
    line = first_line  # of the character `counted`
    while index < len(tokens):
        token = tokens[index]
        kind = token.lastgroup
        if kind == "ticks":
            index = _after_code_span(token, index, runs)
            continue
        index += 1
        if kind == "opening":
            brackets.append(token[0])
        elif token[0][0] == "]" and brackets and brackets.pop() == "[" and kind:
            target = _target(token[kind])
            if target:
                line += text.count("\n", counted, token.start())
                counted = token.start()
                yield Reference(target, Label.LINKS_TO, line)


def _tick_runs(tokens: Sequence[re.Match[str]]) -> dict[int, list[int]]:
    """Length of a run of backticks → the tokens that are such a run."""
    runs: dict[int, list[int]] = {}
    for index, token in enumerate(tokens):
        if token.lastgroup == "ticks":
            runs.setdefault(len(token["ticks"]), []).append(index)
    return runs


def _after_code_span(token: re.Match[str], index: int, runs: dict[int, list[int]]) -> int:
    """The token after the code span that opens here; after this one if nothing closes it."""
    same = runs.get(len(token["ticks"]) - len(token["escaped"]), [])
    position = bisect_right(same, index)
    return same[position] + 1 if position < len(same) else index + 1


def _definitions(lines: Sequence[str]) -> Iterator[Reference]:
    for number, line in enumerate(lines):
        if "]:" in line:
            if line.rstrip().endswith("]:"):  # the target may stand on the next line
                line = f"{line} {''.join(lines[number + 1 : number + 2]).strip()}"
            found = _DEFINITION.match(line)
            target = _target(found[1] or found[2] or "") if found else ""
            if target:
                yield Reference(target, Label.LINKS_TO, number + 1)


def _target(destination: str) -> str:
    """The path of a destination as written, empty if it leads nowhere in the repository."""
    path = destination.partition("#")[0].partition("?")[0]
    return "" if _SCHEME.match(path) else path
