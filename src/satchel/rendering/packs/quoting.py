"""How a pack quotes repository text: no character is hidden, no text ends its own quotation or leaves its
line."""

from __future__ import annotations

import re
from functools import lru_cache

from satchel.rendering.visible import one_line, visible
from satchel.verifying.saved_pack import one_line_each

_QUERY_CHARS = 200  # a query can be a whole bug report; the caller knows the rest of it
_SHORTEST_FENCE = 3
_BACKTICKS = re.compile(r"`{3,}")
_PLAIN_WORD = re.compile(r"[\w.@][^\s\"\\`]*")
WORD = r'(?:"(?:[^"\\]|\\.)*"|[\w.@][^\s"\\`]*)'


def quoted_line(text: str) -> str:
    """Return a name, a reason or a hint on one line, with single spaces."""
    return " ".join(one_line(text).split())


@lru_cache(maxsize=512)  # a pack is rendered many times while it is filled
def shown_text(content: str) -> str:
    """Return the content of an item as every text format writes it, one line for each of its lines."""
    return visible(one_line_each(content))


@lru_cache(maxsize=16)
def short_query(query: str) -> str:
    """Return the start of a query on one line."""
    line = quoted_line(query[: 8 * _QUERY_CHARS])
    return f"{line[:_QUERY_CHARS]}…" if len(line) > _QUERY_CHARS else line


def fence_for(text: str) -> str:
    """Return a fence of backticks that nothing in the text can close."""
    runs = map(len, _BACKTICKS.findall(text))
    return "`" * max(_SHORTEST_FENCE, max(runs, default=0) + 1)


@lru_cache(maxsize=512)
def one_word(name: str) -> str:
    """Return a path or another name as one word: as it is if it has no space or odd character, else as a JSON
    string."""
    if _PLAIN_WORD.fullmatch(name) and visible(name) == name:
        return name
    import json  # few names are odd

    return json.dumps(name).replace("`", "\\u0060")


def read_word(written: str) -> str:
    """Return the name that `one_word` wrote; raise ValueError if it is none."""
    if not written.startswith('"'):
        return written
    import json

    return str(json.loads(written))
