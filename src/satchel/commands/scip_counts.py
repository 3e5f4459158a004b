"""How many documents of SCIP indexes are believed? `index` and `status` say it."""

from __future__ import annotations

import msgspec

from satchel.storage.protocol import Snapshot


class ScipCounts(msgspec.Struct, frozen=True):
    """The documents of SCIP indexes: `believed` ones describe their file as it is indexed, `stale` ones
    another version of it, `unknown` ones a file that is not in the index."""

    believed: int
    stale: int
    unknown: int

    def __str__(self) -> str:
        return f"SCIP documents: {self.believed} believed, {self.stale} stale, {self.unknown} unknown"


def scip_counts(snapshot: Snapshot) -> ScipCounts | None:
    """Return how many SCIP documents are believed; None if the index was given none."""
    documents = snapshot.scip_documents()
    if not documents:
        return None
    hashes = {record.path: record.file_hash for record in snapshot.files()}
    unknown = sum(not bound and path not in hashes for path, bound in documents.items())
    believed = sum(bool(bound) and hashes.get(path) == bound for path, bound in documents.items())
    return ScipCounts(believed, len(documents) - believed - unknown, unknown)
