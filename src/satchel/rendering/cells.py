"""A notebook as a reader wants it: the source of its cells, where the file's own lines are JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel.plugins import late

if TYPE_CHECKING:
    from satchel.chunking import notebooks
else:
    notebooks = late("satchel.chunking.notebooks")

NOTE = "shown is the source of the cells; the lines of the file are JSON"
_NOTEBOOK = ".ipynb"


def source_of(path: str, text: str) -> str:
    """What a text of a file is shown as; all but the cells of a notebook as it is."""
    return notebooks.render_cells(text) if path.lower().endswith(_NOTEBOOK) else text
