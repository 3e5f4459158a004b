"""Read the names of SCIP symbols.

A symbol is `local ID`, or a scheme, a package and *descriptors*, of which each ends with what it is:
`src/`app.ts`/Basket#total().` is the method `total` of the type `Basket` of a file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

LOCAL = "local "
_NAME = r"(?:`((?:[^`]|``)*)`|([\w$+\-]+))"
_LAST = re.compile(rf"{_NAME}(\([\w$+\-]*\)\.|[/#.:!])\Z|(?:\({_NAME}\)|\[{_NAME}\])\Z")
_TAIL = 1_000  # characters; longer names are cut off, and then fit no text
_MODULE_ENDS = ("/", ":")


class OwnName(NamedTuple):
    """The last name of a symbol. `is_written` tells a name that stands in the text from that of a module, or
    of something without a name, as a constructor (`<constructor>`). `is_definition` tells a definition from a
    parameter."""

    name: str
    is_written: bool = False
    is_definition: bool = False


@lru_cache(maxsize=100_000)
def own_name(symbol: str) -> OwnName:
    """Return the last name of a symbol; an empty one for a local symbol."""
    match = None if symbol.startswith(LOCAL) else _LAST.search(symbol[-_TAIL:])
    if match is None:
        return OwnName("")
    quoted, bare, end, *inside = match.groups()
    found = [text for text in (quoted, bare, *inside) if text is not None]
    name = found[0].replace("``", "`") if found else ""
    is_written = bool(name) and end not in _MODULE_ENDS and "<" not in name
    return OwnName(name, is_written, is_written and end is not None)
