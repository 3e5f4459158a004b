"""Jupyter notebooks: JSON whose cells are the pieces."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="notebook",
    suffixes=(".ipynb",),
    chunker="notebook",
    module_kind=ChunkKind.CONFIG,
    prose=True,  # an image in an output is one long line, which is no sign of minified code
)
