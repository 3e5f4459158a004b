"""Do messages and literals find the line that they come from? A sample of many repositories, made by program.

    python benchmarks/quality/exact_text.py --copies COPIES --index INDEXES [--count 300] [--out FILE]

Every folder in COPIES is a repository. From the string literals of its code, tests aside, some are drawn by
hash, so the same copies give the same questions. A literal is asked as it is printed: without quotes and
surroundings, with words in place of its holes. It is found if the first hit, or the pack of 4,000 tokens, has
the line that it was taken from, or another line with the very same literal.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from satchel import Engine
from satchel.retrieval.corpus import Corpus

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'')
LENGTHS = range(8, 121)  # characters
HOLE = re.compile(r"%(?:\(\w+\))?[sdiuqvr]|\$?#?\{\w*\}")
COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|%)")
VALUES = ("foo", "42", "main", "config.toml", "value", "x86", "default", "unknown-item")
SAME_LINES = 3  # a literal on more lines has no source line
ASIDE = frozenset({"test", "example", "docs", "generated"})
BUDGET = 4_000


class Question(msgspec.Struct, frozen=True):
    """A literal as it is asked, and the lines that it stands on: (path, line)."""

    repository: str
    text: str
    has_holes: bool
    lines: tuple[tuple[str, int], ...]


def literals(corpus: Corpus) -> Iterator[tuple[str, str, int]]:
    """Yield each literal of the code that is not a test, with its path and line."""
    for record in corpus.files:
        if not corpus.is_code(record.path) or not ASIDE.isdisjoint(record.tags):
            continue
        for number, line in enumerate(corpus.lines(record.path), 1):
            if len(line) > 300 or COMMENT.match(line):
                continue
            for match in LITERAL.finditer(line):
                text = match[match.lastindex or 0]
                if len(text) in LENGTHS:
                    yield text, record.path, number


def is_message(text: str) -> bool:
    """Whether a literal is text, with or without holes: several words, and no code."""
    words = re.findall(r"[A-Za-z]{2,}", HOLE.sub(" ", text))
    plain = HOLE.sub("", text)
    return (
        len(words) >= 3
        and " " in text.strip()
        and "\\" not in text
        and not re.search(r"[{}<>=;]|\$\(|\w\(|\+ ", plain)
    )


def printed(text: str) -> str:
    """Return a literal with words in place of its holes."""
    seed = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
    count = iter(range(seed, seed + 100))
    return HOLE.sub(lambda _: VALUES[next(count) % len(VALUES)], text).strip()


def questions(name: str, corpus: Corpus, count: int) -> list[Question]:
    """Return `count` literals of a repository, drawn by hash; a third has holes if there are so many.
    Literals that differ in the names of their holes are printed alike."""
    places: dict[str, list[tuple[str, int]]] = {}
    for text, path, line in literals(corpus):
        if is_message(text):
            places.setdefault(HOLE.sub("{}", text), []).append((path, line))
    drawn = sorted(
        (text for text, lines in places.items() if len(lines) <= SAME_LINES),
        key=lambda text: hashlib.sha256(f"{name}\n{text}".encode()).hexdigest(),
    )
    holed = [text for text in drawn if HOLE.search(text)][: count // 3]
    plain = [text for text in drawn if not HOLE.search(text)][: count - len(holed)]
    return [
        Question(name, printed(text), text in holed, tuple(places[text])) for text in sorted(holed + plain)
    ]


def ask(engine: Engine, question: Question) -> tuple[bool, bool, float]:
    """Return whether the first hit and the pack have a line of the literal, and the CPU time of the hit."""
    start = time.process_time()
    hits, _ = engine.search(question.text, 1)
    spent = time.process_time() - start
    pack = engine.pack(question.text, budget_tokens=BUDGET)

    def holds(path: str, first: int, last: int) -> bool:
        return any(path == other and first <= line <= last for other, line in question.lines)

    in_hit = any(holds(hit.path, hit.start_line, hit.end_line) for hit in hits)
    in_pack = any(holds(item.path, item.start_line, item.end_line) for item in pack.items)
    return in_hit, in_pack, spent


def measure(copies: Path, indexes: Path, count: int) -> list[str]:
    """Ask every question and return the rows of the result."""
    names = sorted(path.name for path in copies.iterdir() if path.is_dir() and path.name[0] != ".")
    per_repository = -(-count // len(names))
    totals: Counter[str] = Counter()
    rows, missed, times = [], [], []
    for name in names:
        engine = Engine.open(copies / name, index_dir=indexes / name)
        engine.ensure_fresh()
        asked = questions(name, engine.corpus(), per_repository)
        own: Counter[str] = Counter()
        for question in asked:
            in_hit, in_pack, spent = ask(engine, question)
            times.append(spent)
            kind = "holes" if question.has_holes else "plain"
            own.update({"asked": 1, "hit": in_hit, "pack": in_pack})
            totals.update({"asked": 1, "hit": in_hit, "pack": in_pack})
            totals.update({f"{kind} asked": 1, f"{kind} hit": in_hit, f"{kind} pack": in_pack})
            if not (in_hit and in_pack):
                where = "{}:{}".format(*question.lines[0])
                missed.append(f"  {name} {where} hit {in_hit} pack {in_pack}: {question.text}")
        rows.append(f"{name:<20} asked {own['asked']:>3}  first hit {own['hit']:>3}  pack {own['pack']:>3}")
        engine.close()
    times.sort()
    head = [
        f"{kind or 'all':<20} asked {totals[kind + 'asked']:>3}"
        f"  first hit {totals[kind + 'hit'] / max(1, totals[kind + 'asked']):.3f}"
        f"  pack {totals[kind + 'pack'] / max(1, totals[kind + 'asked']):.3f}"
        for kind in ("", "plain ", "holes ")
    ]
    return [*head, "", *rows, "", "not found:", *(missed or ["  none"])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=Path, required=True, help="a folder of repositories")
    parser.add_argument("--index", type=Path, required=True, help="where their indexes are kept")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    text = "\n".join(measure(options.copies, options.index, options.count)) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
