"""Paragraphs added to a text file and removed again to the byte, and the record that this needs."""

from __future__ import annotations

import msgspec


class EditTrace(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an edit added around its entry. It holds nothing of the user's own text."""

    made: int = 0  # objects that were created to hold the entry
    space: str = ""  # white space that was added beside the entry


def append_paragraph(data: bytes, paragraph: bytes) -> tuple[bytes, EditTrace]:
    """Return the file with a paragraph at its end, and the trace of the edit."""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    if not data.strip(b"\xef\xbb\xbf \t\r\n") or data.endswith(newline * 2):
        space = b""
    else:
        space = newline if data.endswith(b"\n") else newline * 2
    return data + space + paragraph, EditTrace(space=space.decode())


def remove_paragraph(data: bytes, start: int, stop: int, space: str) -> bytes:
    """Return the file without the paragraph from `start` to `stop` and the white space added before it."""
    before, after = data[:start], data[stop:]
    lead = space.encode()
    if lead and before.endswith(lead):
        before = before[: -len(lead)]
        # Somebody has added text below the paragraph.
        if after.strip() and not before.endswith(b"\n"):
            before += b"\r\n" if b"\r\n" in data else b"\n"
    return before + after
