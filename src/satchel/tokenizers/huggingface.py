"""Count tokens with any Hugging Face `tokenizer.json`, given by its path."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from satchel import extras
from satchel.errors import ConfigError
from satchel.tokenizers import Tokenizer, characters_of

_KEPT = 4  # tokenizers kept per process; a large one takes some 100 MB


def open_file(name: str) -> Tokenizer:
    """Return the tokenizer in a file. Its name is that of the file alone, so that the user's folders are not
    shown."""
    path = Path(name).expanduser()
    if not path.is_file():
        raise ConfigError(
            f"there is no tokenizer file {path.name!r} at the path given",
            hint="give the path of a tokenizer.json, or the name of a built-in tokenizer such as o200k",
        )
    status = path.stat()
    return _open(path.resolve(), status.st_mtime_ns, status.st_size)


@lru_cache(_KEPT)
def _open(path: Path, mtime_ns: int, size: int) -> Tokenizer:
    """Return the tokenizer in a file. `mtime_ns` and `size` are part of the cache key, so that a changed file
    is read again."""
    encoder = _read(path)
    # The file may limit the length to 512 tokens, so that long text would be counted too short.
    encoder.no_truncation()
    encoder.no_padding()
    # Text that looks like a special token is ordinary text.
    encoder.encode_special_tokens = True

    def count(text: str) -> int:
        return len(encoder.encode(characters_of(text), add_special_tokens=False).ids)

    return Tokenizer(path.name, count, exact=True)


def _read(path: Path) -> Any:
    """Return the encoder in a file, or raise a typed error."""
    extras.require("huggingface", "a tokenizer.json")
    from tokenizers import Tokenizer as Encoder

    try:
        return Encoder.from_file(str(path))
    # The package raises nothing narrower, and its message may quote the file.
    except Exception as error:
        raise ConfigError(
            f"{path.name} is not a tokenizer file that can be read",
            hint="it must be a tokenizer.json as Hugging Face's tokenizers package writes it",
        ) from error
