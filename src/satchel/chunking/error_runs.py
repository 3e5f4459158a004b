"""Would a file stall its parser? Recovering from an error takes the longer the more errors stand before it.

Text that is no code at all (a page under the name of a program, a list of marks) starts line after line
with a character that starts no statement. Such a run is tried on a copy of the file in which it is short:
where its lines are errors there, all of them would take minutes, and the file becomes windows. In a
string or a comment they are none, because the copy keeps what is around them.
"""

from __future__ import annotations

import re

import tree_sitter

LONGEST_TRUSTED = 200  # lines of a run; the slowest parser (Ruby's) reads as many errors in 0.3 s
_TRIED = 20  # lines of a run that stand in the copy; of later runs none when it holds as many as are trusted
_MOST_ERRORS = 0.5  # of the lines tried; recovery takes some of them for the rest of a statement
_OPENERS = b"<>%@!?^~|\\`$&="
_NO_OPENER = bytes(byte for byte in range(256) if byte not in _OPENERS)
# Possessive, and from some lines on: what is no run is passed over quickly. Blank lines go with those above.
_LINE = rb"[ \t]*+(?:[" + re.escape(_OPENERS) + rb"]|->)[^\n]*+\n(?:[ \t\r]*+\n)*+"
_RUN = re.compile(rb"\n((?:" + _LINE + rb"){%d,}+)" % _TRIED)  # `\n`, not `^`: a character is found sooner


def would_stall(data: bytes, parser: tree_sitter.Parser) -> bool:
    """Return whether long runs of lines in a file are errors to its parser."""
    if len(data.translate(None, _NO_OPENER)) + data.count(b"->") < LONGEST_TRUSTED:
        return False
    copy, tried = _shortened(data)
    if not tried:
        return False
    root = parser.parse(copy).root_node
    return sum(_is_error(root, start) for start in tried) > _MOST_ERRORS * len(tried)


def _shortened(data: bytes) -> tuple[bytes, list[int]]:
    """Return the file with a few lines of each long run, and where these lines begin in it."""
    pieces: list[bytes] = []
    tried: list[int] = []
    done = length = 0
    for run in _RUN.finditer(data):
        lines = re.findall(_LINE, run[1])
        if len(lines) <= LONGEST_TRUSTED:
            continue
        pieces.append(data[done : run.start(1)])
        length += len(pieces[-1])
        for line in lines[: _TRIED if len(tried) < LONGEST_TRUSTED else 0]:
            tried.append(length + len(line) - len(line.lstrip()))
            pieces.append(line)
            length += len(line)
        done = run.end()
    return b"".join((*pieces, data[done:])), tried


def _is_error(root: tree_sitter.Node, start: int) -> bool:
    """Return whether what begins at a byte stands outside of all that the grammar knows."""
    node = root.descendant_for_byte_range(start, start + 1)
    if node is None or (node.start_byte < start and not node.is_error):
        return False  # inside a string or a comment
    around = node if node.is_error else node.parent
    if around is None or (node.is_extra and not node.is_error):
        return False
    return around.is_error or any(child.is_missing for child in around.children)
