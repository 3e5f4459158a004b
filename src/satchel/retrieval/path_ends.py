"""Which files does a written path mean? Those that share most of its end.

A path of a stack trace comes from where the program ran: `/usr/src/app/shop/payment.py` in a container,
`C:\\work\\shop\\payment.py` on another machine, `site-packages/shop/payment.py` where it was installed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from satchel.retrieval.corpus import Corpus

_NO_STEP = ("", ".", "..", "~")
_DRIVE = re.compile(r"[A-Za-z]:")


class Meant(msgspec.Struct, frozen=True):
    """The places of the files that share the most parts of a path's end, and how many parts these are."""

    files: Sequence[int] = ()
    parts: int = 0


def parts_of(path: str) -> list[str]:
    """The names in a written path, without a drive and without steps that lead nowhere."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in _NO_STEP]
    return parts[1:] if parts and _DRIVE.fullmatch(parts[0]) else parts


def files_meant(corpus: Corpus, path: str) -> Meant:
    """The files that have the name of a written path, those of them that share most of its folders."""
    parts = parts_of(path)
    best: list[int] = []
    longest = 0
    for position in corpus.files_named(parts[-1]) if parts else ():
        length = _common_end(corpus.files[position].path.split("/"), parts)
        if length > longest:
            longest, best = length, []
        if length == longest:
            best.append(position)
    return Meant(best, longest)


def _common_end(first: list[str], second: list[str]) -> int:
    length = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one.lower() != other.lower():
            break
        length += 1
    return length
