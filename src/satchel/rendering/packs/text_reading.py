"""What all readers of a pack's text share: its lines, and what is said of one that was cut or edited."""

from __future__ import annotations

import re

from satchel.errors import InvalidRequest

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def pack_lines(text: str) -> list[str]:
    """The lines of a saved pack: no byte order mark, no colours, whatever its line ends became."""
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n").split("\n")


def cut(problem: str) -> InvalidRequest:
    """A pack that does not go on to its end."""
    return InvalidRequest(f"{problem}: it was cut or edited", hint="make the pack again, or restore the file")


def not_ours(problem: str) -> InvalidRequest:
    """A pack with something in it that is never written."""
    return InvalidRequest(f"the pack was edited: {problem}", hint="make the pack again, or restore the file")
