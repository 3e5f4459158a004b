"""Repository text on a screen: nothing in it may drive the terminal or hide from the reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from satchel.plugins import late
from satchel.visible_json import HIDDEN


def visible(text: str) -> str:
    """Hidden characters written out as `\\u202e`; `\\r\\n` shown as a plain line end."""
    return HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """A text that must stay on its line."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


if TYPE_CHECKING:
    from satchel.chunking import notebooks
else:
    notebooks = late("satchel.chunking.notebooks")

NOTE = "shown is the source of the cells; the lines of the file are JSON"
_NOTEBOOK = ".ipynb"


def source_of(path: str, text: str) -> str:
    """What a text of a file is shown as; all but the cells of a notebook as it is."""
    return notebooks.render_cells(text) if path.lower().endswith(_NOTEBOOK) else text
