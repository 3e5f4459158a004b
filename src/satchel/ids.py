"""Every identity rule, and the only file that hashes.

    digest = sha1(doc "\\n" norm(title_path) "\\n" sha256(normalised body) ["\\n" occurrence])

`doc:digest[:10]` is the canonical id, `chunk_` + digest[:16] another spelling of the same digest,
`path:start:end` the locator.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from satchel.types import Chunk

SHORT_DIGEST = 10
LONG_DIGEST = 16
_BLANK_RUNS = re.compile(r"\n{3,}")


def hash_bytes(data: bytes) -> str:
    """The sha256 of bytes, in hexadecimal."""
    digest: str = _hashlib().sha256(data).hexdigest()
    return digest


@cache
def _hashlib() -> Any:
    """Loaded when something is hashed, which a search does not do, and without an `import` for each hash."""
    import hashlib

    return hashlib


def hash_text(text: str) -> str:
    """The sha256 of text as UTF-8; a lone surrogate is hashed as written."""
    return hash_bytes(text.encode("utf-8", "surrogatepass"))


def root_fingerprint(root: os.PathLike[str]) -> str:
    """A name for a root that does not tell its path: the same root gives the same, another another."""
    return hash_bytes(os.fsencode(root))[:16]


def normalize_markdown(text: str) -> str:
    """The text as identity sees it: LF line ends, no outer white space, at most one blank line in a row."""
    stripped = text.replace("\r\n", "\n").strip()
    if "\n\n\n" in stripped:
        stripped = _BLANK_RUNS.sub("\n\n", stripped)
    return stripped + "\n" if stripped else ""


def normalize_title_path(title_path: Iterable[str]) -> str:
    """Titles trimmed, lower-cased, inner white space collapsed, joined by the unit separator."""
    return "\x1f".join(" ".join(title.lower().split()) for title in title_path)


def doc_of(path: str) -> str:
    """The document id of a path; no two paths share one, whatever other files exist.

    `docs/skill.md` is `docs/skill`. That spelling would belong to a file `docs/skill` as well, so
    a file without any suffix is written `./docs/skill`, and `app.py.md` keeps its whole name.
    """
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".md")
    if stem != name and stem and "." not in stem:
        return f"{folder}/{stem}" if folder else stem
    return path if "." in name else f"./{path}"


def path_of(doc: str) -> str:
    """The path that a document id stands for."""
    if doc.startswith("./"):
        return doc[2:]
    name = doc.rpartition("/")[2]
    return doc if "." in name else f"{doc}.md"


def chunk_digest(doc: str, title_path: Iterable[str], text: str, occurrence: int = 1) -> str:
    """The digest behind every spelling of a chunk's id. `occurrence` tells copies in one doc apart."""
    return seeded_digest(doc, normalize_title_path(title_path), hash_text(text), occurrence)


def seeded_digest(doc: str, normal_title_path: str, text_hash: str, occurrence: int = 1) -> str:
    """`chunk_digest` for parts that are already normalised and hashed."""
    seed = f"{doc}\n{normal_title_path}\n{text_hash}"
    if occurrence > 1:
        seed += f"\n{occurrence}"
    digest: str = _hashlib().sha1(seed.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return digest


def canonical_id(doc: str, digest: str) -> str:
    """`docs/setup:15d1b6fd7c`."""
    return f"{doc}:{digest[:SHORT_DIGEST]}"


def long_id(digest: str) -> str:
    """`chunk_15d1b6fd7cffd258`."""
    return f"chunk_{digest[:LONG_DIGEST]}"


def body_hash(chunk: Chunk) -> str:
    """The path-independent part of a chunk's identity."""
    return hash_text(normalize_markdown(chunk.body))


def digests(doc: str, seeds: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """The digests of one document's chunks, in order, from their (title path, body hash).

    A chunk whose short digest is taken, by a copy of it or by chance, counts up its occurrence.
    """
    given = Digests(doc)
    return [given.take(title_path, text_hash) for title_path, text_hash in seeds]


class Digests:
    """The digests of one document, given out in the order of its chunks."""

    def __init__(self, doc: str) -> None:
        self._doc = doc
        self._taken: set[str] = set()
        self._occurrences: dict[tuple[str, str], int] = {}

    def take(self, title_path: Iterable[str], text_hash: str) -> str:
        """The digest of the next chunk."""
        normal = normalize_title_path(title_path)
        digest, occurrence = self._next(normal, text_hash)
        self._occurrences[normal, text_hash] = occurrence
        self._taken.add(digest[:SHORT_DIGEST])
        return digest

    def would_be(self, title_path: Iterable[str], text_hash: str) -> str:
        """The digest that `take` would give."""
        return self._next(normalize_title_path(title_path), text_hash)[0]

    def _next(self, normal: str, text_hash: str) -> tuple[str, int]:
        occurrence = self._occurrences.get((normal, text_hash), 0) + 1
        digest = seeded_digest(self._doc, normal, text_hash, occurrence)
        while digest[:SHORT_DIGEST] in self._taken:
            occurrence += 1
            digest = seeded_digest(self._doc, normal, text_hash, occurrence)
        return digest, occurrence
