"""Pairs of report and code, as `quality/mine_fixes.py` writes them → pairs that `train.py` reads.

python fix_pairs.py FIX_PAIRS_FOLDER PAIRS_FOLDER
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from pairs import LEAST_ABOUT, MOST_ABOUT, MOST_SAID

from satchel.terms import terms

MOST_CHARS = 2_000  # of a report; what comes later is logs
LEAST_SAID = 2


def line_of(pair: dict[str, Any]) -> str | None:
    """Return the line of a pair; None if it says too little."""
    said = dict.fromkeys(term for term in terms(pair["query"][:MOST_CHARS]) if term[0] != "=")
    about = Counter(term for term in terms(f"{pair['name']} {pair['code']}") if term[0] != "=")
    if len(said) < LEAST_SAID or len(about) < LEAST_ABOUT:
        return None
    counted = " ".join(f"{term}:{count}" for term, count in about.most_common(MOST_ABOUT))
    return f"fix\t{pair['language']}\t{' '.join(list(said)[:MOST_SAID])}\t{counted}\n"


def main() -> None:
    """Convert every file of a folder."""
    source, target = map(Path, sys.argv[1:3])
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.jsonl")):
        pairs = (msgspec.json.decode(line) for line in path.read_bytes().split(b"\n") if line)
        lines = [line for pair in pairs if (line := line_of(pair))]
        name = f"fix+{path.stem.replace('__', '+')}.tsv"
        (target / name).write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
