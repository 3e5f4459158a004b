"""What do all the answers say together: by metric, by group, against a gate?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from satchel.errors import InvalidRequest
from satchel.evaluation import bootstrap
from satchel.evaluation.bootstrap import Mean
from satchel.evaluation.metrics import METRICS
from satchel.evaluation.run import Answer

_GATE = re.compile(r"\s*([^\s<>=]+)\s*>=\s*(\d*\.?\d+)\s*")


class Gate(NamedTuple):
    """A mean that must be reached."""

    metric: str
    limit: float


class Latency(NamedTuple):
    """How long an ordinary search took with the index loaded, in milliseconds."""

    p50: float
    p95: float


def summarise(answers: Sequence[Answer]) -> dict[str, Mean]:
    """The mean of every metric that some question has."""
    return bootstrap.means(
        {name: [answer.scores[name] for answer in answers if name in answer.scores] for name in METRICS}
    )


def groups(answers: Sequence[Answer], field: str) -> dict[str, dict[str, Mean]]:
    """The same for each value of a field of the cases; the empty name has those without one."""
    members: dict[str, list[Answer]] = {}
    for answer in answers:
        members.setdefault(getattr(answer.case, field), []).append(answer)
    return {name: summarise(members[name]) for name in sorted(members)}


def latency(answers: Sequence[Answer]) -> Latency:
    """The middle search, and the one that 19 of 20 are faster than."""
    times = sorted(answer.milliseconds for answer in answers)
    return Latency(*(round(times[min(len(times) - 1, int(len(times) * share))], 2) for share in (0.5, 0.95)))


def read_gate(text: str) -> Gate:
    """`ndcg@10>=0.8`."""
    found = _GATE.fullmatch(text)
    if found is None:
        raise InvalidRequest(f"{text!r} is no gate", hint="write it as METRIC>=VALUE, such as 'ndcg@10>=0.8'")
    if found[1] not in METRICS:
        raise InvalidRequest(f"{found[1]!r} is no metric", hint=f"known: {', '.join(METRICS)}")
    if float(found[2]) > 1:
        raise InvalidRequest(f"the gate {text!r} can never hold", hint="every metric is between 0 and 1")
    return Gate(found[1], float(found[2]))
