"""How long does `grep` take inside a process, on a tree that was asked before?

    python benchmarks/grep_speed.py [FOLDER] [--index DIR] [--rounds 5]

FOLDER is Django if none is given. Every pattern is asked once, then in rounds; the least CPU time of the
rounds is told, with the whole answer of 8,000 tokens. Exit code 1 when a literal takes more than 40 ms or an
expression with a required part more than 150 ms on Django.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from corpora import default_cache, get

from satchel import Engine
from satchel.commands.grep import GrepRequest, GrepResponse, run
from satchel.commands.session import Session
from satchel.rendering.packs import PACK_FORMATS

RESULTS = Path(__file__).parent / "results" / "grep_speed.txt"
LITERAL_MS, EXPRESSION_MS = 40.0, 150.0
LITERALS = ("e", "self", "return", "  ", "error", "init", "does not exist", "if not ", "zzz-nowhere", "get_")
EXPRESSIONS = (
    r"def \w+_\w+\(",
    r"raise \w+Error\(",
    r"class \w+\(\w*\.?\w*\):",
    r"(get|set)_\w+",
    r"\bTODO\b",
)


def measure(session: Session, request: GrepRequest, rounds: int) -> tuple[float, GrepResponse]:
    """Return the least milliseconds of CPU time, and the answer."""
    answer = run(session, request)
    times = []
    for _ in range(rounds):
        start = time.process_time()
        answer = run(session, request)
        times.append(time.process_time() - start)
    return 1_000 * min(times), answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    folder = options.folder or get("django", default_cache())
    with tempfile.TemporaryDirectory() as scratch:
        engine = Engine.open(folder, index_dir=options.index or scratch)
        engine.ensure_fresh()
        requests = [GrepRequest(pattern=text) for text in LITERALS]
        requests += [GrepRequest(pattern="error", ignore_case=True), GrepRequest(pattern="Model", word=True)]
        requests += [GrepRequest(pattern=text, regex=True) for text in EXPRESSIONS]
        rows, failed = [f"{folder.name}, {len(engine.corpus().files)} files"], False
        session = Session(engine, PACK_FORMATS)
        for request in requests:
            spent, answer = measure(session, request, options.rounds)
            limit = EXPRESSION_MS if request.regex else LITERAL_MS
            failed |= spent > limit
            kind = "expression" if request.regex else "literal"
            how = " -i" * request.ignore_case + " -w" * request.word
            found = f"{answer.matches} in {answer.files} files"
            rows.append(f"{spent:7.1f} ms  {kind:<10} {request.pattern!r}{how}  {found}")
        engine.close()
    text = "\n".join(rows) + "\n"
    print(text)
    options.out.write_text(text)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
