"""Split text into lines as citations count them: a line ends with \\n, \\r\\n or a lone \\r.

`str.splitlines` also splits at \\x0b, \\x0c, \\x85 and U+2028, so its line numbers differ from those of
editors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


@lru_cache(maxsize=1)  # parsing a file and counting its terms need the same lines
def split_lines(text: str) -> Sequence[str]:
    """Return the lines of a text with their line ends; joining them returns the text."""
    if "\r" not in text:
        # One pass in C. Where another separator split a line too, there are more lines than line ends.
        lines = text.splitlines(keepends=True)
        if len(lines) == text.count("\n") + (text[-1:] not in ("", "\n")):
            return lines
    return _LINE.findall(text)
