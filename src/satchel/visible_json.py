"""How is JSON written? In one spelling, without a character that no reader would see.

Hidden characters stand in it as `\\u202e`. An escape of JSON is read back as the character itself, so the
text of a citation and its hash stay what they are; what is counted is the escape, which is what is received.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

# control characters but tab and line feed; bidirectional and zero-width marks; line separators; what an agent
# reads although nobody sees it (tags spell whole sentences); what may stand in no XML
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)
_DELETE = "\x7f"  # the one hidden character of ASCII that JSON does not escape by itself


def compact(value: Any) -> str:
    """Return a value as JSON without spaces: what `used_chars` counts."""
    return escaped(msgspec.json.encode(value).decode())


def indented(value: Any, indent: int) -> str:
    """Return a value as JSON over several lines, for people and for files that are compared."""
    return escaped(msgspec.json.format(msgspec.json.encode(value), indent=indent).decode())


def compact_bytes(value: Any) -> bytes:
    """Return `compact(value)` in UTF-8, without decoding what is ASCII anyway."""
    data = msgspec.json.encode(value)
    if data.isascii() and _DELETE.encode() not in data:
        return data
    return escaped(data.decode()).encode()


def escaped(text: str) -> str:
    """Return JSON with its hidden characters escaped; they can stand in its strings alone."""
    if text.isascii() and _DELETE not in text:
        return text
    return HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
