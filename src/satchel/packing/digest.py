"""Which chunks say best what a document is about? They are scored by title, heading level and size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

DIGEST_CHARS = 1200  # characters of the chosen chunks together
DIGEST_CHUNKS = 2
_PREVIEW_CHARS = 180
_FLUFF_CHARS = 300  # characters; an overview that is shorter says nothing
_TELLING = frozenset(
    {
        "api",
        "architecture",
        "commands",
        "core",
        "critical",
        "mandatory",
        "protocol",
        "rules",
        "setup",
        "usage",
        "workflow",
    }
)
_FLUFF = frozenset({"overview", "intro", "introduction"})
_WORD = re.compile(r"\w+")
_WHITE_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class DigestCandidate:
    """A chunk with the fields that the digest scores."""

    id: str
    title_path: tuple[str, ...]
    level: int
    text: str


def score_chunk(title: str, level: int, text: str) -> int:
    """Return the score of a chunk: +3 for a telling word in the title, +2 for a heading of level 1 or 2, -2
    for a short overview."""
    words = set(_WORD.findall(title.lower()))
    score = 3 if words & _TELLING else 0
    score += 2 if level <= 2 else 0
    return score - (2 if words & _FLUFF and len(text) < _FLUFF_CHARS else 0)


def choose(chunks: Sequence[DigestCandidate]) -> list[DigestCandidate]:
    """Return the best chunks that fit the digest together; a chunk that does not fit is passed over. If none
    fits, the best chunk alone stands for its document."""
    ranked = sorted(chunks, key=lambda chunk: -score_chunk(_title(chunk), chunk.level, chunk.text))
    chosen: list[DigestCandidate] = []
    used = 0
    for chunk in ranked:
        if len(chosen) < DIGEST_CHUNKS and used + len(chunk.text) <= DIGEST_CHARS:
            chosen.append(chunk)
            used += len(chunk.text)
    return chosen or ranked[:1]


def summary(chosen: Sequence[DigestCandidate]) -> str:
    """Return the title paths of chunks on one line: `A → B | A → C`."""
    return " | ".join(
        " → ".join(_WHITE_SPACE.sub(" ", title) for title in chunk.title_path) or "Introduction"
        for chunk in chosen
    )


def preview(text: str, max_chars: int = _PREVIEW_CHARS) -> str:
    """Return a text on one line, cut with an ellipsis."""
    line = _WHITE_SPACE.sub(" ", text.strip())
    return line[:max_chars] + ("…" if len(line) > max_chars else "")


def _title(chunk: DigestCandidate) -> str:
    return chunk.title_path[-1] if chunk.title_path else "Introduction"
