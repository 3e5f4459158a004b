"""Repository text on a screen: no character drives the terminal or is hidden from the reader, and a citation
is written in one way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from satchel.plugins import late
from satchel.visible_json import HIDDEN

if TYPE_CHECKING:
    from satchel.chunking import notebooks
else:
    notebooks = late("satchel.chunking.notebooks")

NOTEBOOK_NOTE = "shown is the source of the cells; the lines of the file are JSON"
_NOTEBOOK = ".ipynb"
_SHORT_COMMIT = 12
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


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


def short_ref(ref: str) -> str:
    """Return a ref as packs show it: of a commit only the first digits."""
    repository, at, own = ref.rpartition("@")
    short = own[:_SHORT_COMMIT] if _COMMIT.fullmatch(own) else own
    return f"{repository}{at}{short}"


def cited_path(path: str, ref: str) -> str:
    """Return a path as a citation writes it: that of a library with the commit of its repository,
    `NAME@COMMIT:path`."""
    name, _, own = path.partition("/")
    return f"{short_ref(ref)}:{own}" if ref.startswith(f"{name}@") else path


def cited_in(path: str, refs: Mapping[str, str]) -> str:
    """Return a path as a citation writes it, by the refs of the repositories of an answer."""
    return cited_path(path, refs.get(path.partition("/")[0], ""))


def read_cited_path(written: str) -> tuple[str, str]:
    """Return the path and the ref that `cited_path` wrote for a file of a library; an empty ref if it is
    none."""
    ref, colon, own = written.partition(":")
    name, at, _ = ref.partition("@")
    return (f"{name}/{own}", ref) if colon and at and name else (written, "")
