"""Repository text inside a pack: nothing in it may hide, end its quotation, or leave its line."""

from __future__ import annotations

import re
from functools import lru_cache

from satchel.packing.pack import WORK_TREE
from satchel.rendering.visible import one_line, visible
from satchel.verifying.saved_pack import one_line_each

_QUERY_CHARS = 200  # a whole bug report can be a question; who asked it knows the rest
_SHORT_COMMIT = 12
_SHORTEST_FENCE = 3
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BACKTICKS = re.compile(r"`{3,}")
_PLAIN_TOKEN = re.compile(r"[\w.@][^\s\"\\`]*")
TOKEN = r'(?:"(?:[^"\\]|\\.)*"|[\w.@][^\s"\\`]*)'


def quoted_line(text: str) -> str:
    """A name, a reason or a hint: on one line, with single spaces."""
    return " ".join(one_line(text).split())


@lru_cache(maxsize=512)  # a pack is rendered again and again while it is filled
def shown(content: str) -> str:
    """An item's content as every text format writes it: one line for each of its lines."""
    return visible(one_line_each(content))


@lru_cache(maxsize=16)
def short_query(query: str) -> str:
    """The question as a reminder of it."""
    line = quoted_line(query[: 8 * _QUERY_CHARS])
    return f"{line[:_QUERY_CHARS]}…" if len(line) > _QUERY_CHARS else line


def fence_for(text: str) -> str:
    """Backticks that nothing in the text can close."""
    runs = map(len, _BACKTICKS.findall(text))
    return "`" * max(_SHORTEST_FENCE, max(runs, default=0) + 1)


@lru_cache(maxsize=512)
def token(name: str) -> str:
    """A path or another name without a space in it: as it is, or else as a JSON string, which is exact."""
    if _PLAIN_TOKEN.fullmatch(name) and visible(name) == name:
        return name
    import json  # few names are odd

    return json.dumps(name).replace("`", "\\u0060")


def read_token(written: str) -> str:
    """The name that `token` wrote; ValueError if it is none."""
    if not written.startswith('"'):
        return written
    import json

    return str(json.loads(written))


def short_ref(ref: str) -> str:
    """`worktree`, or the first digits of a commit."""
    return ref if ref == WORK_TREE or not _COMMIT.fullmatch(ref) else ref[:_SHORT_COMMIT]
