"""A pack in XML read again, without a document type and without entities of its own: both are refused before
they can do anything."""

from __future__ import annotations

import json
import re
from typing import NoReturn
from xml.parsers import expat

import msgspec

from satchel.errors import InvalidRequest
from satchel.packing.citation import FULL_HASH, SHORT_HASH, Citation, CitedPack
from satchel.rendering.packs.headline import Headline
from satchel.rendering.packs.text_reading import cut, not_ours
from satchel.types import Suggestion

_LINES = re.compile(r"(\d{1,9})-(\d{1,9})")
_HASH = re.compile(rf"[0-9a-f]{{{SHORT_HASH},{FULL_HASH}}}")
_NUMBER = re.compile(r"\d{1,9}")
_CHILDREN = ("item", "missing", "next", "note")


def read_document(text: str) -> CitedPack:
    """The pack that a document holds."""
    reading = _Reading()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text.append
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        raise cut(f"the XML is broken at line {error.lineno}: {expat.ErrorString(error.code)}") from error
    return reading.cited()


def _refuse(*_: object) -> NoReturn:
    raise InvalidRequest(
        "the XML declares a document type or an entity", hint="a pack has none: make it again"
    )


class _Reading:
    """Takes in elements. Text is looked at only where an element ends, so CDATA is never taken for markup."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self._open: list[tuple[str, dict[str, str]]] = []
        self._root: dict[str, str] = {}
        self._citations: list[Citation] = []
        self._hints: list[str] = []
        self._next: list[Suggestion] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > 1 or (self._open and name not in _CHILDREN):
            raise not_ours(f"there is no <{name[:60]}> in a pack")
        if not self._open:
            self._root = attributes
        self._open.append((name, attributes))
        self.text.clear()

    def end(self, name: str) -> None:
        _, attributes = self._open.pop()
        text = "".join(self.text)
        self.text.clear()
        if name == "item":
            self._citations.append(self._item(attributes, text.removeprefix("\n")))
        elif name == "missing":
            self._hints.append(text)
        elif name == "next":
            self._next.append(Suggestion(attributes.get("query", ""), text))

    def cited(self) -> CitedPack:
        root = self._root
        head = Headline(
            ref=_exact(root.get("ref", "")),
            count=_number(root, "items"),
            tokenizer=_exact(root.get("tokenizer", "")),
            max_tokens=_number(root, "max_tokens"),
            max_chars=_number(root, "max_chars"),
            headroom_tokens=_number(root, "headroom_tokens"),
        )
        pack = head.cited("xml", root.get("query", ""), self._citations)
        return msgspec.structs.replace(pack, hints=tuple(self._hints), next_queries=tuple(self._next))

    def _item(self, attributes: dict[str, str], text: str) -> Citation:
        path = _exact(attributes.get("path", ""))
        match = _LINES.fullmatch(attributes.get("lines", ""))
        first, last = map(int, match.groups()) if match else (0, 0)
        if not 1 <= first <= last:
            raise not_ours(f"the item of {path!r} has no lines")
        if not _HASH.fullmatch(attributes.get("sha256", "")):
            raise not_ours(f"the item of {path!r} has no sha256")
        return Citation(
            path=path,
            start_line=first,
            end_line=last,
            content_hash=attributes["sha256"],
            ref=_exact(attributes.get("ref", "")) or _exact(self._root.get("ref", "")),
            section=attributes.get("section", ""),
            shown=text,
            kind=attributes.get("kind", ""),
            symbol=attributes.get("symbol", ""),
            relationship=tuple(attributes.get("relationship", "").split()),
            distance=_number(attributes, "distance"),
        )


def _exact(written: str) -> str:
    if not written.startswith('"'):
        return written
    try:
        return str(json.loads(written))
    except ValueError as error:
        raise not_ours("a name in it is no JSON string") from error


def _number(attributes: dict[str, str], name: str) -> int:
    written = attributes.get(name, "0")
    if not _NUMBER.fullmatch(written):
        raise not_ours(f"{name} is no number")
    return int(written)
