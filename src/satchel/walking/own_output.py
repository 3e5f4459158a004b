"""Did we write this file ourselves? A pack or manifest that is kept in the tree repeats the tree: indexed, it
would be found in place of its sources, and grow each time that it is written."""

from __future__ import annotations

import re

_HEAD_CHARS = 600  # both say what they are in their first lines
_LAYERS = re.compile(
    r'\s*\{\s*"schema_version":\s*1,\s*"segment":\s*"[^"\n]*",\s*"created_at":\s*"[^"\n]*",\s*"generator_version":'
)
_MANIFEST = re.compile(r'\s*\{\s*"version":\s*1,\s*"chunks":\s*\[\s*\{\s*"chunk_id":\s*"chunk_[0-9a-f]{16}"')


def own_output(text: str, language: str) -> str | None:
    """What the file is, if it is ours."""
    if language != "json":
        return None
    head = text[:_HEAD_CHARS].removeprefix("\ufeff")
    if _LAYERS.match(head):
        return "a context pack of Satchel"
    return "a manifest of Satchel" if _MANIFEST.match(head) else None
