"""Does the question name the file: by its path, or in a stack trace?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.signals.signal import Context, SignalGroup

if TYPE_CHECKING:
    from satchel.retrieval.evidence import Floats

_OUTWARDS = 0.75  # what the frame outside of the deepest one counts, and so on
_NAME_ALONE = 0.7  # a file name without its folder
_SHARED = 3  # files of the same name that a mention may mean


def compute(context: Context) -> dict[str, Floats]:
    found = {name: np.zeros(context.count) for name in SIGNAL.signals}
    question = context.question
    for mention in question.mentions:
        for at, worth in resolve(context, mention.path, _SHARED):
            found["mentioned"][at] = max(found["mentioned"][at], worth)
    # a foreign file may have the name of one of ours, so a frame needs a folder that agrees, if it has any
    frames = [
        at
        for frame in question.frames
        for at, worth in resolve(context, frame.path, 1)
        if worth == 1.0 or "/" not in frame.path.strip("/")
    ]
    own = [at for at in frames if "test" not in context.records[at].tags] or frames
    for distance, at in enumerate(reversed(own)):
        found["traceback"][at] = max(found["traceback"][at], _OUTWARDS**distance)
    if own:
        found["deepest_frame"][own[-1]] = 1.0
    return found


def resolve(context: Context, path: str, most: int) -> list[tuple[int, float]]:
    """The candidates that a written path means: those that share most of its end."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    if not parts:
        return []
    best: list[int] = []
    longest = 0
    for position in context.corpus.files_named(parts[-1]):
        own = context.corpus.files[position].path.split("/")
        length = _common_end(own, parts)
        if length > longest:
            longest, best = length, []
        if length == longest:
            best.append(position)
    if not best or len(best) > most:
        return []
    worth = (1.0 if longest > 1 else _NAME_ALONE) / len(best)
    local = [context.position.get(context.corpus.files[position].path) for position in best]
    return [(at, worth) for at in local if at is not None]


def _common_end(first: list[str], second: list[str]) -> int:
    length = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one.lower() != other.lower():
            break
        length += 1
    return length


SIGNAL = SignalGroup("mentions", ("mentioned", "traceback", "deepest_frame"), compute)
