"""What name does a written reference end in?"""

from __future__ import annotations

import re
from functools import lru_cache

_FILE_SUFFIXES = (".js", ".ts", ".tsx", ".jsx", ".mjs", ".h", ".hpp", ".rb", ".php", ".lua", ".zig", ".proto")
# One pass: an expression that looks ahead to the end from each place takes minutes on a long name.
_NAMES = re.compile(r"[\w$]+")


@lru_cache(maxsize=50_000)
def last_name(written: str) -> str:
    """The name that a written reference ends in: `django.db.models` → `models`, `./router.js` → `router`."""
    if written.endswith(_FILE_SUFFIXES):
        written = written.rpartition(".")[0]
    names: list[str] = _NAMES.findall(written)
    if names and not names[-1].strip("$"):  # such a word is a name only where there is no other
        return next((name for name in reversed(names) if name.strip("$")), names[0])
    return names[-1] if names else written
