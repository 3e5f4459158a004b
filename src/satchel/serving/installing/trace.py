"""What has to be remembered of an edit so that it can be taken back to the byte, and text at a file's end."""

from __future__ import annotations

import msgspec


class Trace(msgspec.Struct, frozen=True, omit_defaults=True):
    """Nothing of the user's own text is in it: how many objects were made around the entry, and the white
    space that was put beside it."""

    made: int = 0
    space: str = ""


def appended(data: bytes, addition: bytes) -> tuple[bytes, Trace]:
    """A paragraph more at the end of a file."""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    if not data.strip(b"\xef\xbb\xbf \t\r\n") or data.endswith(newline * 2):
        space = b""
    else:
        space = newline if data.endswith(b"\n") else newline * 2
    return data + space + addition, Trace(space=space.decode())


def without(data: bytes, start: int, stop: int, space: str) -> bytes:
    """The data without a paragraph, and without the white space that came with it."""
    before, after = data[:start], data[stop:]
    lead = space.encode()
    if lead and before.endswith(lead):
        before = before[: -len(lead)]
        if after.strip() and not before.endswith(b"\n"):  # somebody went on writing below
            before += b"\r\n" if b"\r\n" in data else b"\n"
    return before + after
