"""Is a file nested so deeply that reading its syntax tree would take minutes?

Parsers grow slowly with depth, but a query over the tree grows with its square, and so do nested
comments and long runs of comments. No real file comes near the limits; such a file becomes windows.
"""

from __future__ import annotations

import re

import numpy as np

MAX_BRACKETS = 1_000
MAX_OPEN_COMMENTS = 100
MAX_OPEN_TAGS = 2_000
MAX_COMMENT_RUN = 1_500  # lines; the Python grammar looks ahead over the rest of a run at each of them
_COMMENT_RUN = re.compile(rb"(?:^[ \t]*#[^\n]*\n){%d}" % MAX_COMMENT_RUN, re.MULTILINE)
# tags that open or close something; `<br>` and `<img />` do neither
_TAG = re.compile(
    rb"<(?:(/)|(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b))[a-z][^<>]*(?<!/)>",
    re.IGNORECASE,
)
_DELTA = [0] * 256
for _opening, _closing in zip(b"([{", b")]}", strict=True):
    _DELTA[_opening], _DELTA[_closing] = 1, -1
_DELTAS = np.array(_DELTA, np.int32)
_NO_BRACKET = bytes(byte for byte in range(256) if not _DELTA[byte])


def is_too_deep(data: bytes) -> bool:
    """Whether brackets, tags or unclosed comments are nested beyond the limits, strings counted as code."""
    if data.count(b"<") > MAX_OPEN_TAGS and data.lstrip()[:1] == b"<" and _open_tags(data) > MAX_OPEN_TAGS:
        return True
    if data.count(b"/*") - data.count(b"*/") > MAX_OPEN_COMMENTS:
        return True
    if data.count(b"#") > MAX_COMMENT_RUN and _COMMENT_RUN.search(data):
        return True
    brackets = data.translate(None, _NO_BRACKET)
    if brackets.count(b"(") + brackets.count(b"[") + brackets.count(b"{") <= MAX_BRACKETS:
        return False
    depths = np.cumsum(_DELTAS[np.frombuffer(brackets, np.uint8)])
    return int(depths.max()) > MAX_BRACKETS


def _open_tags(data: bytes) -> int:
    """How many tags of a page are open at once."""
    deltas = [-1 if match[1] else 1 for match in _TAG.finditer(data)]
    return int(np.cumsum(deltas).max()) if deltas else 0
