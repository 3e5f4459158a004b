"""Which model is installed? Told by the first bytes of its file, without loading it."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

LEXICAL = "lexical"  # what an index without vectors is said to be made with
DATA = Path(__file__).parent / "words.bin"
HEADER = struct.Struct("<8sIIII32s")  # magic, format, rows, dimensions, length of the vocabulary, model id
MAGIC = b"satwords"


@cache
def model_id(path: Path = DATA) -> str:
    """The id of the table of word vectors, or `lexical` where there is none."""
    try:
        with path.open("rb") as file:
            content = file.read(HEADER.size)
    except FileNotFoundError:
        return LEXICAL
    return HEADER.unpack(content)[5].rstrip(b"\0").decode() if content.startswith(MAGIC) else LEXICAL
