"""Repository text on a screen: no character drives the terminal or is hidden from the reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from satchel.plugins import late
from satchel.visible_json import HIDDEN

if TYPE_CHECKING:
    from satchel.chunking import notebooks
else:
    notebooks = late("satchel.chunking.notebooks")

NOTEBOOK_NOTE = "shown is the source of the cells; the lines of the file are JSON"
_NOTEBOOK = ".ipynb"


def visible(text: str) -> str:
    """Return a text with hidden characters written as escapes (`\\u202e`), and `\\r\\n` as `\\n`."""
    return HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return a visible text on one line."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def shown_source(path: str, text: str) -> str:
    """Return the text of a file as it is shown: of a notebook, whose lines are JSON, the source of the
    cells."""
    return notebooks.render_cells(text) if path.lower().endswith(_NOTEBOOK) else text
