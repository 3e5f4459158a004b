"""Repository text on a screen: nothing in it may drive the terminal or hide from the reader."""

from __future__ import annotations

import re

# control characters but tab and line feed; bidirectional and zero-width marks; line separators; what an agent
# reads although nobody sees it (tags spell whole sentences); what may stand in no XML
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Hidden characters written out as `\\u202e`; `\\r\\n` shown as a plain line end."""
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """A text that must stay on its line."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
