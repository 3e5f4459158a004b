"""Write JSON with a single spelling, in which no character is invisible.

Hidden characters are escaped, for example as `\\u202e`. A JSON reader turns the escape back into the
character, so the text of a citation and its hash do not change. Budgets count the escape, because that is
what is sent.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

# Control characters except tab and line feed, bidirectional and zero-width marks, line separators, characters
# that an agent reads although nobody sees them (tags spell whole sentences), and characters that XML forbids.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)
_DELETE = "\x7f"  # the only hidden ASCII character that JSON does not require to be escaped


def compact(value: Any) -> str:
    """Return a value as JSON without spaces: what `used_chars` counts."""
    return escaped(msgspec.json.encode(value).decode())


def indented(value: Any, indent: int) -> str:
    """Return a value as JSON over several lines, for people and for files that are compared."""
    return escaped(msgspec.json.format(msgspec.json.encode(value), indent=indent).decode())


def compact_bytes(value: Any) -> bytes:
    """Return `compact(value)` as UTF-8. Output that is plain ASCII is not decoded and encoded again."""
    data = msgspec.json.encode(value)
    if data.isascii() and _DELETE.encode() not in data:
        return data
    return escaped(data.decode()).encode()


def escaped(text: str) -> str:
    """Return JSON text with its hidden characters escaped. Such characters can only stand inside JSON
    strings."""
    if text.isascii() and _DELETE not in text:
        return text
    return HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    """Return the matched character as one or two `\\uXXXX` escapes."""
    units = match.group().encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
