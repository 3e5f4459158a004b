"""Which ids end when a file changes, and which id stands in the place of each.

Chunks may share a title: sections called alike, the parts of a long one, code between definitions. What
stayed is told from what changed here, where both versions of the file are at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from satchel import ids
from satchel.storage.records import ChunkRecord, RetiredChunk

Named = tuple[str, tuple[str, ...]]  # a digest and the title path of its chunk


def retired(before: Sequence[ChunkRecord], file_hash: str, after: Sequence[Named]) -> list[RetiredChunk]:
    """The chunks of a file whose ids end when it has the chunks `after`, in their order."""
    digests_after = _by_title(after)
    places: dict[str, int] = {}
    successors: dict[str, str] = {}
    for title, digests in _by_title((chunk.digest, chunk.title_path) for chunk in before).items():
        successors.update(_successors(digests, digests_after.get(title, [])))
        if len(digests) > 1:
            places.update((digest, place) for place, digest in enumerate(digests, 1))
    still_there = {digest for digest, _ in after}
    return [
        RetiredChunk(
            chunk.digest,
            chunk.path,
            chunk.title_path,
            file_hash,
            places.get(chunk.digest, 0),
            successors.get(chunk.digest, ""),
        )
        for chunk in before
        if chunk.digest not in still_there
    ]


def _by_title(chunks: Iterable[Named]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for digest, title_path in chunks:
        found.setdefault(ids.normalize_title_path(title_path), []).append(digest)
    return found


def _successors(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """Each run of ended ids is followed, one by one, by the new ids between the same neighbours. Where these
    are more or fewer, which is which cannot be told."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for change, first, last, new_first, new_last in matcher.get_opcodes():
        if change == "replace" and last - first == new_last - new_first:
            yield from zip(before[first:last], after[new_first:new_last], strict=True)
