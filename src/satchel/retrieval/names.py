"""What name does a written reference end in?"""

from __future__ import annotations

import re
from functools import lru_cache

_FILE_SUFFIXES = (".js", ".ts", ".tsx", ".jsx", ".mjs", ".h", ".hpp", ".rb", ".php", ".lua", ".zig", ".proto")
_LAST_NAME = re.compile(r"[\w$]+(?=\W*$)")


@lru_cache(maxsize=50_000)
def last_name(written: str) -> str:
    """The name that a written reference ends in: `django.db.models` → `models`, `./router.js` → `router`."""
    if written.endswith(_FILE_SUFFIXES):
        written = written.rpartition(".")[0]
    match = _LAST_NAME.search(written)
    return match.group() if match else written
