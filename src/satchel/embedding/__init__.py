"""What do words mean? A table of word vectors, and how the words of a text become one vector.

The package itself only knows where the table is and which model it holds, told by the first bytes of the
file: `word_vectors` loads it.
"""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

LEXICAL = "lexical"  # the model id of an index without vectors
DATA = Path(__file__).parent / "words.bin"
HEADER = struct.Struct("<8sIIII32s")  # magic, format, rows, dimensions, length of the vocabulary, model id
MAGIC = b"satwords"


@cache
def model_id(path: Path = DATA) -> str:
    """Return the id of the table of word vectors, or `lexical` where there is no table."""
    try:
        with path.open("rb") as file:
            content = file.read(HEADER.size)
    except FileNotFoundError:
        return LEXICAL
    return HEADER.unpack(content)[5].rstrip(b"\0").decode() if content.startswith(MAGIC) else LEXICAL
