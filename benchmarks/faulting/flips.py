"""Does a damaged index ever give a wrong answer?

    python benchmarks/faulting/flips.py                          1,000 rounds
    python benchmarks/faulting/flips.py --rounds 200 --seed 7

Each round takes a good index, does one damage to it and asks the same questions as of the good one: search,
get, pack, symbols, refs, map, stats, status. Most damages are one flipped bit, half of them anywhere in the
file and half on pages in use; others cut the file, empty a page, swap two pages, flip bits in the log or in
the memory of the walk, remove the log, or put something else in the index's place. Half of the rounds ask as
servers do by default, where a damaged index is set aside and built anew; the others ask it as it is; one in
twenty-three asks the command line in processes of its own.

An answer has to be that of the good index, or an error that names the damage. Without its log an index asked
as it is may also answer from the generation before, which is whole. The exit code is 1 if an answer was wrong
or an error was `internal`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from satchel.commands.freshness import StalePolicy
from satchel.commands.session import CallOptions, Session
from satchel.engine import Engine
from satchel.errors import SatchelError
from satchel.rendering.packs import PACK_FORMATS

PROJECT = Path(__file__).resolve().parents[2]
PAGE = 4096
_COMMAND_LINE_EVERY = 23  # rounds: a process for each question takes a hundred times as long
_WITH_LOG = 0.2  # of the rounds: what is in the log is not read from the file, and most indexes have none
_DAMAGE = frozenset({"index_corrupt", "index_incompatible", "index_stale", "config_error"})
# what two good indexes of one tree differ in
_VOLATILE = frozenset(
    {"generation", "index_bytes", "index", "root", "segment", "index_watermark", "project_watermark"}
)

Answers = list[Any]
Damage = Callable[[Path, random.Random], None]
Ask = Callable[["_Good", bool], Iterator[Any]]


@dataclass
class Figures:
    """What the rounds came to; `wrong` and `internal` say which damage gave which answer."""

    rounds: int = 0
    same: int = 0
    rebuilt: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    internal: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The figures as text."""
        refused = ", ".join(f"{code} {count}" for code, count in sorted(self.refused.items()))
        return [
            f"damaged indexes     {self.rounds}",
            f"answered alike      {self.same} of them after a rebuild {self.rebuilt}",
            f"refused             {refused or 0}",
            f"silently wrong      {len(self.wrong)}",
            f"internal errors     {len(self.internal)}",
        ]


def run(rounds: int, seed: int, *, small: bool = False, command_line: bool = True) -> Figures:
    """Damage an index so many times; `small` takes a tree that is indexed in a moment, and without the
    `command_line` every question is asked in this process."""
    figures = Figures()
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        good = _Good(Path(folder), small)
        for number in range(rounds):
            damage = _flip_used if number % 2 else _flip_anywhere
            if number % 5 == 4:
                damage = _OTHERS[number // 5 % len(_OTHERS)]
            ask = _by_command_line if command_line and number % _COMMAND_LINE_EVERY == 0 else _by_session
            _one_round(good, damage, ask, number % 4 < 2, chance, figures)
    return figures


class _Good:
    """A tree with its index, kept apart as it was, and what is answered from it."""

    def __init__(self, folder: Path, small: bool) -> None:
        self.root = folder / "tree"
        self.index = folder / "index"
        self._kept, self._with_log = folder / "kept", folder / "kept_with_log"
        _make_tree(self.root, small)
        with self.engine() as engine:
            engine.refresh()
            self.questions = list(_questions(engine))
            reader = engine.store.snapshot()  # as long as it is open the log stays
            (self.root / "shop" / "prices.py").write_text(
                "def net_price():\n    return 7\n", encoding="utf-8"
            )
            self.before = self._ask(engine)
            engine.refresh()
            self.answers = self._ask(engine)
            engine.ensure_fresh()  # remembers the walk
            shutil.copytree(self.index, self._with_log)
            reader.close()
        with closing(sqlite3.connect(self.index / "context.db")) as connection:  # the last one ends the log
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copytree(self.index, self._kept)

    def _ask(self, engine: Engine) -> Answers:
        with Session(engine, PACK_FORMATS, CallOptions(stale_policy=StalePolicy.WARN)) as session:
            return [_answer(session, action, payload) for action, payload in self.questions]

    def engine(self) -> Engine:
        return Engine.open(self.root, index_dir=self.index, workers=1)

    def restore(self, *, log: bool) -> None:
        """Put the good index back, with the last generation in its log or without one."""
        shutil.rmtree(self.index, ignore_errors=True)
        shutil.copytree(self._with_log if log else self._kept, self.index)


def _one_round(
    good: _Good, damage: Damage, ask: Ask, mends: bool, chance: random.Random, figures: Figures
) -> None:
    good.restore(log=damage in _BESIDE_A_LOG or chance.random() < _WITH_LOG)
    figures.rounds += 1
    state = chance.getrandbits(64)
    damage(good.index / "context.db", random.Random(state))
    name = f"{damage.__name__.strip('_')} {state}, {'mending' if mends else 'as it is'}"
    alike, refused = True, ""
    for at, answer in enumerate(ask(good, mends)):
        action, payload = good.questions[at]
        what = f"{name}: {action} {json.dumps(payload)[:80]}"
        if isinstance(answer, Exception) or answer.get("error") == "internal":
            alike = False
            figures.internal.append(f"{what}: {answer!r}")
        elif answer.get("error") in _DAMAGE or answer.get("stale_reasons") == ["index_corrupt"]:
            alike = False
            refused = refused or answer.get("error", "status")
        elif answer != good.answers[at] and not _older(good, damage, mends, at, answer):
            alike = False
            figures.wrong.append(f"{what}: {str(answer)[:300]}")
    figures.same += alike
    figures.rebuilt += alike and any("unusable" in item.name for item in good.index.iterdir())
    if refused:
        figures.refused[refused] += 1


def _older(good: _Good, damage: Damage, mends: bool, at: int, answer: Any) -> bool:
    """Whether this is the answer of the generation before, which is all there is without the log."""
    return damage in _OF_THE_LOG and not mends and answer == good.before[at]


def _by_session(good: _Good, mends: bool) -> Iterator[Any]:
    """The answers as a server gives them, each by an engine of its own, or the errors in their place."""
    policy = StalePolicy.AUTO if mends else StalePolicy.WARN
    for action, payload in good.questions:
        with (
            good.engine() as engine,
            Session(engine, PACK_FORMATS, CallOptions(stale_policy=policy)) as session,
        ):
            yield _answer(session, action, payload)


def _answer(session: Session, action: str, payload: dict[str, Any]) -> Any:
    """The answer, or the error in its place: a question about nothing has an error for its answer."""
    try:
        return plain(session.call(action, dict(payload)))
    except SatchelError as error:
        return {"error": error.code, "message": error.message}
    except Exception as error:
        return error


def _by_command_line(good: _Good, mends: bool) -> Iterator[Any]:
    """The answers of the command line, each from a process of its own."""
    for action, payload in good.questions:
        words = [*_words(payload), "--json", "--segment", good.root, "--index-dir", good.index]
        if not mends and action != "status":
            words.append("--no-refresh")
        command = [sys.executable, "-m", "satchel", action, *map(str, words)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
        try:
            found = json.loads(done.stdout or done.stderr)
        except ValueError:
            yield ValueError(f"exit code {done.returncode}: {done.stderr[-300:]!r}")
            continue
        error = found.get("error")
        yield {"error": error["code"], "message": error["message"]} if error else plain(found)


def _words(payload: dict[str, Any]) -> Iterator[str]:
    for name, value in payload.items():
        if name in ("query", "name"):
            yield value
        elif name == "ids":
            yield from value
        elif value is True:
            yield f"--{name}"
        else:
            yield from (f"--{name.replace('_', '-')}", str(value))


def plain(answer: Any) -> Any:
    """An answer without what two good indexes differ in."""
    if isinstance(answer, dict):
        document = answer.get("document")
        if isinstance(document, str) and document.startswith("{"):  # the command line shows it alone
            return plain(json.loads(document))
        return {key: plain(value) for key, value in answer.items() if key not in _VOLATILE}
    if isinstance(answer, list | tuple):
        return [plain(value) for value in answer]
    if isinstance(answer, msgspec.Struct):
        return plain(msgspec.to_builtins(answer))
    return answer


def _make_tree(root: Path, small: bool) -> None:
    """Samples of every language, a small program, and its documents."""
    shutil.copytree(PROJECT / "examples" / "shop", root)
    samples = sorted((PROJECT / "tests" / "languages" / "samples").iterdir())
    (root / "samples").mkdir()
    for sample in samples[:: 12 if small else 1]:
        shutil.copy(sample, root / "samples" / sample.name)
    if not small:
        shutil.copytree(PROJECT / "docs", root / "manual")
    (root / "empty.bin").write_bytes(b"\0\1\2" * 50)
    (root / ".env").write_text("KEY=1\n", encoding="utf-8")


def _questions(engine: Engine) -> Iterator[tuple[str, dict[str, Any]]]:
    snapshot = engine.snapshot()
    paths = [record.path for record in snapshot.files()]
    some = [path for path in paths if path != "shop/prices.py"][:: max(1, len(paths) // 6)]
    chunks = [chunk for path in some for chunk in snapshot.chunks(path)[-1:]]
    names = sorted({item.symbol.name for item in snapshot.all_symbols()})
    yield "search", {"query": "how is the price of a basket worked out", "k": 20}
    yield "search", {"query": "Basket"}
    yield "search", {"query": "parse the configuration file", "explain": True}
    yield "search", {"query": "qwertyuiop"}
    yield "get", {"ids": some}
    yield "get", {"ids": [f"chunk_{chunk.digest}" for chunk in chunks]}
    yield "get", {"ids": ["no/such/file.py", "chunk_0123456789abcdef"]}
    yield "pack", {"query": "what does a payment need", "format": "json", "budget_tokens": 3000}
    for name in names[:: max(1, len(names) // 4)]:
        yield "symbols", {"name": name}
        yield "refs", {"name": name}
    yield "symbols", {}
    yield "map", {}
    yield "stats", {}
    yield "status", {"skipped": True}


def _overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(at)
        stream.write(data)


def _flip(path: Path, at: int, bit: int) -> None:
    with path.open("rb") as stream:
        stream.seek(at)
        byte = stream.read(1)[0]
    _overwrite(path, at, bytes([byte ^ 1 << bit]))


def _flip_anywhere(path: Path, chance: random.Random) -> None:
    _flip(path, chance.randrange(path.stat().st_size), chance.randrange(8))


def _flip_used(path: Path, chance: random.Random) -> None:
    """In the file's head, the shape of a page, or where its cells are: not in room that is free."""
    data = path.read_bytes()
    while True:
        page = chance.randrange(len(data) // PAGE)
        at = page * PAGE + (chance.randrange(PAGE) if chance.random() < 0.5 else chance.randrange(120))
        if any(data[at : at + 8]):
            return _flip(path, at, chance.randrange(8))


def _cut(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def _empty_page(path: Path, chance: random.Random) -> None:
    _overwrite(path, chance.randrange(path.stat().st_size // PAGE) * PAGE, bytes(PAGE))


def _swap_pages(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    first, second = (page * PAGE for page in chance.sample(range(1, len(data) // PAGE), 2))
    _overwrite(path, first, data[second : second + PAGE])
    _overwrite(path, second, data[first : first + PAGE])


def _flip_log(path: Path, chance: random.Random) -> None:
    _flip_anywhere(path.with_name(path.name + "-wal"), chance)


def _flip_shared_memory(path: Path, chance: random.Random) -> None:
    _flip_anywhere(path.with_name(path.name + "-shm"), chance)


def _flip_walk(path: Path, chance: random.Random) -> None:
    walk = path.with_suffix(".walk")
    if walk.exists():
        _flip_anywhere(walk, chance)


def _cut_log(path: Path, chance: random.Random) -> None:
    _cut(path.with_name(path.name + "-wal"), chance)


def _no_log(path: Path, chance: random.Random) -> None:
    path.with_name(path.name + "-wal").unlink()


def _no_bytes(path: Path, chance: random.Random) -> None:
    path.write_bytes(b"")


def _noise(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(path.stat().st_size))


def _foreign_database(path: Path, chance: random.Random) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.commit()


def _folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


_OF_THE_LOG = (_flip_log, _cut_log, _no_log)
_BESIDE_A_LOG = (*_OF_THE_LOG, _flip_shared_memory)
_OTHERS = (
    _cut,
    _empty_page,
    _swap_pages,
    *_OF_THE_LOG,
    _flip_shared_memory,
    _flip_walk,
    _empty_page,
    _swap_pages,
    _no_bytes,
    _noise,
    _foreign_database,
    _folder,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="a tree of a dozen files")
    options = parser.parse_args()
    figures = run(options.rounds, options.seed, small=options.small)
    print("\n".join([*figures.lines(), *figures.wrong, *figures.internal]))
    return 1 if figures.wrong or figures.internal else 0


if __name__ == "__main__":
    sys.exit(main())
