"""Do the promises hold when something breaks? All trials of `faulting/`, one after the other.

    python benchmarks/faults.py [PART…] [--quick]

    changes       every surface after every kind of change, 500 rounds
    readers       12 readers and 3 writers beside a watch, 90 s
    kills         200 kills that hit, of every command
    disk          a full, broken or closed disk at the Nth write
    flips         1,000 damaged indexes

Each part prints its figures and replaces its own line in results/faults.txt; exit code 1 means that a promise
does not hold. `--quick` runs a twentieth and keeps nothing. Commands of their own are the trials of bad input
(`faulting/conformance.py`, `repositories.py`, `openapi.py`, `fuzzing.py`) and of load (`load.py`).
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from faulting import after_changes, disk, flips, kills, while_changing

RESULTS = Path(__file__).parent / "results" / "faults.txt"
HEADER = "Figures of benchmarks/faults.py; a line of a part is replaced when the part is run again."
MOST_SHOWN = 20


class Outcome(NamedTuple):
    """What a part found: its figures in one line, and a sentence for each thing that was wrong."""

    figures: str
    wrong: Sequence[str]


def changes(share: float) -> Outcome:
    rounds = max(22, round(500 * share))
    wrong = after_changes.run(rounds, 1, list(after_changes.SURFACES), tell)
    return Outcome(f"{rounds} rounds over {len(after_changes.SURFACES)} surfaces", wrong)


def readers(share: float) -> Outcome:
    trial = while_changing.run(90 * share, 12, 3)
    counts = ", ".join(f"{number} {name}" for name, number in sorted(trial.counts.items()))
    return Outcome(f"12 readers, 3 writers, a watch, {90 * share:g} s: {counts}", trial.wrong)


def kill(share: float) -> Outcome:
    hits, wrong = kills.run(max(10, round(200 * share)), 1, tell)
    return Outcome(f"{sum(hits.values())} kills hit, {len(hits)} commands", wrong)


def faulty_disk(share: float) -> Outcome:
    faults, wrong = disk.run(max(4, round(400 * share)), tell)
    return Outcome(f"{sum(faults.values())} faults in {len(faults)} commands", wrong)


def flip(share: float) -> Outcome:
    found = flips.run(max(40, round(1000 * share)), 1, small=True)
    refused = sum(found.refused.values())
    figures = f"{found.rounds} damaged indexes: {found.same} answered alike, {refused} refused"
    return Outcome(figures, [*found.wrong, *found.internal])


PARTS: dict[str, Callable[[float], Outcome]] = {
    "changes": changes,
    "readers": readers,
    "kills": kill,
    "disk": faulty_disk,
    "flips": flip,
}


def tell(text: str) -> None:
    print(f"  {text}", flush=True)


def keep(part: str, line: str) -> None:
    """Replace the line of a part in the kept figures."""
    kept = RESULTS.read_text().splitlines()[1:] if RESULTS.exists() else []
    lines = [row for row in kept if not re.match(rf"{part}\b", row)] + [line]
    RESULTS.write_text("\n".join([HEADER, *sorted(lines)]) + "\n")


def main() -> int:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="run a twentieth, keep nothing")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    failed = False
    for part in options.parts or PARTS:
        print(f"{part} …", flush=True)
        started = time.monotonic()
        outcome = PARTS[part](0.05 if options.quick else 1.0)
        line = (
            f"{part:10} {outcome.figures}; wrong: {len(outcome.wrong)} ({time.monotonic() - started:.0f} s)"
        )
        print(line, *outcome.wrong[:MOST_SHOWN], sep="\n", flush=True)
        failed |= bool(outcome.wrong)
        if not options.quick:
            keep(part, line)
    return failed


if __name__ == "__main__":
    sys.exit(main())
