"""Is what an answer cites what the files hold?

A citation is compared with the bytes on disk, by code that shares nothing with the product: lines are split
here, and hashes are taken here.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
FOREVER = float("inf")
_NAMED_BEHIND = "typedef"  # what C names behind its body, which may be many lines later


class Citation(NamedTuple):
    """Lines of a file, and what an answer says of them: their exact text, or a text that stands in them."""

    path: str
    first: int
    last: int
    text: str
    is_exact: bool = True
    content_hash: str = ""
    opens: str = ""  # a signature: its first line may end before the name, as `static int` does in C

    def holds_in(self, content: str | None) -> bool:
        """Tell whether a file with this content bears the citation out; None is a file that is not there."""
        if content is None:
            return False
        lines = _LINE.findall(content)
        shown = "".join(lines[self.first - 1 : self.last])
        if not self.is_exact:
            rest = content.partition(shown)[2] if shown.lstrip().startswith(_NAMED_BEHIND) else ""
            return self.text in shown + rest or self._is_named_below("".join(lines[self.first - 1 :]))
        if self.content_hash and hashlib.sha256(shown.encode()).hexdigest() != self.content_hash:
            return False
        return shown == self.text

    def _is_named_below(self, text: str) -> bool:
        """Return whether a text begins with the signature up to the name."""
        head, name, _ = self.opens.partition(self.text)
        return bool(name) and " ".join(text.split()).startswith(head + name)


def citations(action: str, data: Mapping[str, Any]) -> Iterator[Citation]:
    """All citations of an answer."""
    if action == "search":
        for hit in data["hits"]:
            # of a long chunk the lines that fit best are shown
            yield Citation(hit["path"], hit["start_line"], hit["end_line"], hit["snippet"], is_exact=False)
    elif action == "get":
        for chunk in data["chunks"]:
            lines = chunk["start_line"], chunk["end_line"]
            yield Citation(chunk["path"], *lines, chunk["text"], content_hash=chunk["content_hash"])
    elif action == "context_pack":
        for item in data["items"]:
            lines = item["start_line"], item["end_line"]
            yield Citation(item["file"], *lines, item["content"], content_hash=item["content_hash"])
    elif action == "build_context_pack":
        for item in (item for section in data["sections"].values() for item in section):
            lines = item["line_start"], item["line_end"]
            yield Citation(item["path"], *lines, item["content"], content_hash=item["content_hash"])
    elif action == "map":
        for symbol in data["symbols"]:
            yield _naming(symbol, "line", "name")._replace(opens=symbol["signature"])
    elif action == "refs":
        for symbol in data["definitions"]:
            yield _naming(symbol, "start_line", "name")
        for reference in data["references"]:
            yield _naming(reference, "line", "name")
    else:
        raise ValueError(action)


def _naming(row: Mapping[str, Any], line: str, name: str) -> Citation:
    return Citation(row["path"], row[line], row[line], row[name].rpartition(".")[2], is_exact=False)


def untrue(action: str, data: Mapping[str, Any], root: Path) -> list[Citation]:
    """The citations of an answer that the files of now do not bear out."""
    return [item for item in citations(action, data) if not item.holds_in(read_text(root / item.path))]


def read_text(path: Path) -> str | None:
    """The text of a file as it is now; None if there is none."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


class Versions:
    """What each file held, and from when to when, for answers that are made while files change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, list[tuple[float, float, str | None]]] = defaultdict(list)

    def hold(self, path: str, content: str | None) -> None:
        """Note what a file held before anything was noted of it."""
        with self._lock:
            if path not in self._known:
                self._known[path].append((-FOREVER, FOREVER, content))

    def begin(self, path: str, content: str | None) -> None:
        """Note what a file is about to hold: from now on an answer may show it."""
        with self._lock:
            self._known[path].append((time.monotonic(), FOREVER, content))

    def end(self, path: str) -> None:
        """Note that the last content is in place: from now on no answer may show the one before."""
        with self._lock:
            rows = self._known[path]
            now = time.monotonic()
            rows[:-1] = [(since, min(until, now), content) for since, until, content in rows[:-1]]

    def bear_out(self, citation: Citation, asked: float, answered: float) -> bool:
        """Tell whether the file held what is cited at some time between the question and its answer."""
        with self._lock:
            rows = list(self._known.get(citation.path, ()))
        within = (content for since, until, content in rows if since <= answered and until >= asked)
        return any(citation.holds_in(content) for content in within)
