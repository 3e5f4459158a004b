"""Jupyter notebooks: JSON whose cells are the pieces."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="notebook",
    suffixes=(".ipynb",),
    chunker="notebooks",
    module_kind=ChunkKind.CONFIG,
)
