"""Every rule of identity. This is the only module that hashes.

    digest = sha1(doc "\\n" norm(title_path) "\\n" sha256(normalised body) ["\\n" occurrence])

`doc:digest[:10]` is the canonical id of a chunk, `chunk_` + digest[:16] a second spelling of the same digest,
and `path:start:end` its locator.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

from satchel.types import Chunk

SHORT_DIGEST = 10
LONG_DIGEST = 16
NAME_KEY_BYTES = 6
_BLANK_RUNS = re.compile(r"\n{3,}")


def hash_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal."""
    digest: str = _hashlib().sha256(data).hexdigest()
    return digest


class StreamHash:
    """The SHA-256 of bytes that come block by block."""

    def __init__(self) -> None:
        self._hash = _hashlib().sha256()

    def add(self, block: bytes) -> None:
        """Take the next block."""
        self._hash.update(block)

    def hexdigest(self) -> str:
        """Return the hash of all blocks so far, in hexadecimal."""
        digest: str = self._hash.hexdigest()
        return digest


@cache
def _hashlib() -> Any:
    """Return the module hashlib. It is imported at the first hash, because a search computes none."""
    import hashlib

    return hashlib


def hash_text(text: str) -> str:
    """Return the SHA-256 of text encoded as UTF-8; a lone surrogate is encoded as it stands."""
    return hash_bytes(text.encode("utf-8", "surrogatepass"))


def content_key(parts: Sequence[bytes]) -> bytes:
    """Return the 16 bytes by which the packed parts of a file are known, whichever file has them. PostgreSQL
    can compute the same: `storage.postgres_contents` does, to find damaged ones."""
    written = b"".join(part for one in parts for part in (len(one).to_bytes(8, "big"), one))
    digest: bytes = _hashlib().sha256(written).digest()
    return digest[:16]


@lru_cache(65_536)  # the edges of a repository name the same few paths and definitions again and again
def name_key(name: str) -> bytes:
    """Return the 6 bytes by which a path or a qualified name is known where texts would take too long. Among
    a million paths, two share theirs in one of 500 repositories."""
    key: bytes = (
        _hashlib().blake2b(name.encode("utf-8", "surrogatepass"), digest_size=NAME_KEY_BYTES).digest()
    )
    return key


def root_fingerprint(root: os.PathLike[str]) -> str:
    """Return a short hash that identifies a root without revealing its path."""
    return hash_bytes(os.fsencode(root))[:16]


def normalize_markdown(text: str) -> str:
    """Return text as identity sees it: LF line ends, no white space at either end, at most one blank line in
    a row."""
    stripped = text.replace("\r\n", "\n").strip()
    if "\n\n\n" in stripped:
        stripped = _BLANK_RUNS.sub("\n\n", stripped)
    return stripped + "\n" if stripped else ""


def normalize_title_path(title_path: Iterable[str]) -> str:
    """Return the titles lower-cased, with runs of white space collapsed, joined by the unit separator."""
    return "\x1f".join([" ".join(title.lower().split()) for title in title_path])


def doc_of(path: str) -> str:
    """Return the document id of a path. No two paths share a document id, whatever other files exist.

    `docs/skill.md` is `docs/skill`. A file `docs/skill` without a suffix would have the same id, so it is
    written `./docs/skill`; `app.py.md` keeps its whole name.
    """
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".md")
    if stem != name and stem and "." not in stem:
        return f"{folder}/{stem}" if folder else stem
    return path if "." in name else f"./{path}"


def path_of(doc: str) -> str:
    """Return the path that a document id stands for."""
    if doc.startswith("./"):
        return doc[2:]
    name = doc.rpartition("/")[2]
    return doc if "." in name else f"{doc}.md"


def chunk_digest(doc: str, title_path: Iterable[str], text: str, occurrence: int = 1) -> str:
    """Return the digest behind every spelling of a chunk's id. `occurrence` tells equal chunks of one
    document apart."""
    return seeded_digest(doc, normalize_title_path(title_path), hash_text(text), occurrence)


def seeded_digest(doc: str, normal_title_path: str, text_hash: str, occurrence: int = 1) -> str:
    """Return `chunk_digest` for a title path that is normalised and a text that is hashed already."""
    seed = f"{doc}\n{normal_title_path}\n{text_hash}"
    if occurrence > 1:
        seed += f"\n{occurrence}"
    digest: str = _hashlib().sha1(seed.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return digest


def canonical_id(doc: str, digest: str) -> str:
    """Return an id such as `docs/setup:15d1b6fd7c`."""
    return f"{doc}:{digest[:SHORT_DIGEST]}"


def long_id(digest: str) -> str:
    """Return an id such as `chunk_15d1b6fd7cffd258`."""
    return f"chunk_{digest[:LONG_DIGEST]}"


def body_hash(chunk: Chunk) -> str:
    """Return the part of a chunk's identity that does not depend on its path."""
    return hash_text(normalize_markdown(chunk.body))


def digests(doc: str, seeds: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """Return the digests of all chunks of a document, in order, from their (title path, body hash)."""
    given = Digests(doc)
    return [given.take(title_path, text_hash) for title_path, text_hash in seeds]


class Digests:
    """Assigns digests to the chunks of one document in order. If a short digest is taken already, by an equal
    chunk or by chance, the occurrence is counted up until the digest is free."""

    def __init__(self, doc: str) -> None:
        self._doc = doc
        self._taken: set[str] = set()
        self._occurrences: dict[tuple[str, str], int] = {}

    def take(self, title_path: Iterable[str], text_hash: str) -> str:
        """Return the digest of the next chunk and mark it as taken."""
        normal = normalize_title_path(title_path)
        digest, occurrence = self._next(normal, text_hash)
        self._occurrences[normal, text_hash] = occurrence
        self._taken.add(digest[:SHORT_DIGEST])
        return digest

    def would_be(self, title_path: Iterable[str], text_hash: str) -> str:
        """Return the digest that `take` would return, without taking it."""
        return self._next(normalize_title_path(title_path), text_hash)[0]

    def _next(self, normal: str, text_hash: str) -> tuple[str, int]:
        """Return the first free digest and its occurrence."""
        occurrence = self._occurrences.get((normal, text_hash), 0) + 1
        digest = seeded_digest(self._doc, normal, text_hash, occurrence)
        while digest[:SHORT_DIGEST] in self._taken:
            occurrence += 1
            digest = seeded_digest(self._doc, normal, text_hash, occurrence)
        return digest, occurrence
