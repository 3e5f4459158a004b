"""Does an answer tell anything of a repository outside the grant of its caller?

    python benchmarks/faulting/rights.py [--pairs 100000] [--seed 1] [--postgres] [--add]

Random callers (grants by name, glob and group) ask random questions of one served library of six tiny
repositories, in turns, as callers of one server do: one question by itself, or forty in a batch, where some
refer to the answers to others, each by several callers. Every answer is compared, byte for byte, with that of
a library which really has only the repositories of the grant: the whole envelope, with its counts, hints,
state and errors. Only the fingerprint of the library's folder, the identity of the index that a cursor ends
with, and the milliseconds are left out of the comparison.

The repositories differ from seed to seed. They are folders; with `--postgres` they are commits whose indexes
lie in one database, those of the served library beside those of all that it is compared with. One line of
figures for each kind is kept in results/rights.txt, and `--add` adds to it what was asked with other seeds.
Exit code 1 means that an answer differed.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "packing")]

from builders import age, git_repo, make_tree  # noqa: E402
from postgres_server import shared_server  # noqa: E402
from random_repositories import WORDS, make_repository, name_in  # noqa: E402

from satchel import ids  # noqa: E402
from satchel.library.grants import EVERYTHING, Caller, Grant  # noqa: E402
from satchel.library.library import Library  # noqa: E402
from satchel.serving.dispatcher import Dispatcher  # noqa: E402
from satchel.serving.envelope import Call, Request, encode  # noqa: E402
from satchel.serving.served_library import _MOST_ENGINES  # noqa: E402

RESULTS = Path(__file__).resolve().parents[1] / "results" / "rights.txt"
GROUPS = {
    "shop": ("web",),
    "shop-api": ("web", "core"),
    "shop.js": (),
    "till": ("core",),
    "Bank": ("core", "money"),
    "vault": ("money",),
}
_OF_THE_MOMENT = re.compile(rb'"\w+_ms":\d+(\.\d+)?')
_CURSOR = re.compile(rb'("next_cursor":"symbols\.\d+\.)[0-9a-f]{16}')  # ends with the identity of an index
_MOST_SHOWN = 5
_CALLERS = 8  # that ask the same, one after the other
_TOGETHER = 40  # questions of a batch: the folders are looked at once for all of them, half of the cost
_SINGLE = 10  # of so many rounds, one asks a question by itself
_MOST_CHARS = 500_000
_KINDS = {False: "folders", True: "postgresql"}
_LINE = re.compile(
    r"rights of (?P<kind>\w+) +(?P<pairs>[\d,]+) pairs of caller and question, (?P<actions>\d+) actions,"
    r" up to (?P<sets>\d+) sets of repositories, seeds (?P<seeds>[\d ]+);"
    r" wrong: (?P<wrong>\d+) \((?P<seconds>\d+) CPU s\)"
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What was asked of one kind of library, with which seeds, and how many answers were wrong."""

    kind: str
    pairs: int
    actions: int
    sets: int
    seeds: tuple[int, ...]
    wrong: int
    seconds: int

    @classmethod
    def read(cls, line: str) -> Self | None:
        """Return the figures of a line of results; None if it is another line."""
        found = _LINE.fullmatch(line)
        if found is None:
            return None
        numbers = {name: int(found[name].replace(",", "")) for name in cls.__slots__[1:] if name != "seeds"}
        return cls(kind=found["kind"], seeds=tuple(map(int, found["seeds"].split())), **numbers)

    def __str__(self) -> str:
        return (
            f"rights of {self.kind:<10} {self.pairs:,} pairs of caller and question, {self.actions} actions,"
            f" up to {self.sets} sets of repositories, seeds {' '.join(map(str, self.seeds))};"
            f" wrong: {self.wrong} ({self.seconds} CPU s)"
        )

    def with_more(self, other: Figures) -> Figures:
        """Return these figures and those of other seeds together."""
        if set(self.seeds) & set(other.seeds):
            raise SystemExit(f"seeds {self.seeds} are counted already: give another --seed")
        return Figures(
            self.kind,
            self.pairs + other.pairs,
            max(self.actions, other.actions),
            max(self.sets, other.sets),
            (*self.seeds, *other.seeds),
            self.wrong + other.wrong,
            self.seconds + other.seconds,
        )


def main() -> int:
    """Ask, compare, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100_000, help="pairs of a caller and a question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgres", action="store_true", help="ask commits whose indexes are in PostgreSQL")
    parser.add_argument("--add", action="store_true", help="add the figures to those of other seeds")
    options = parser.parse_args()
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        place = shared_server().place if options.postgres else None
        trial = Trial(Path(folder), options.seed, place)
        wrong = trial.run(options.pairs, random.Random(options.seed))
        trial.close()
    seconds = round(time.process_time() - started)
    found = Figures(
        _KINDS[options.postgres],
        trial.pairs,
        len(trial.actions),
        len(trial.alone),
        (options.seed,),
        len(wrong),
        seconds,
    )
    print(found, *wrong[:_MOST_SHOWN], sep="\n")
    keep(found, added=options.add)
    return bool(wrong)


def keep(found: Figures, *, added: bool) -> None:
    """Write the figures of one kind of library in place of the last ones, or `added` to them."""
    lines = RESULTS.read_text().split("\n") if RESULTS.is_file() else []
    known = {one.kind: one for line in lines if (one := Figures.read(line))}
    before = known.get(found.kind)
    known[found.kind] = before.with_more(found) if added and before is not None else found
    told = "".join(f"{known[kind]}\n" for kind in sorted(known))
    RESULTS.write_text(f"Figures of benchmarks/faulting/rights.py.\n{told}")


class Trial:
    """One library that is asked by everybody, and one for each set of repositories that somebody may see."""

    def __init__(self, base: Path, seed: int, place: Callable[[object], str] | None) -> None:
        """Make the repositories of a seed; `place` says where in a database the commits of a folder are
        kept, if it is not the folders that are asked."""
        self._base = base
        self._place = place
        self._count = 0
        self.pairs = 0
        self.actions: set[str] = set()
        self.alone: dict[tuple[str, ...], Dispatcher] = {}
        make = git_repo if place else make_tree
        for number, name in enumerate(GROUPS):
            make(base / "repositories" / name, make_repository(seed * len(GROUPS) + number))
        # A file of this moment is read again, which writes another generation between two answers.
        age(base / "repositories")
        self._served = Dispatcher(library=self._library((*GROUPS,)))
        self._packs = [self._pack(" ".join(WORDS[number::5])) for number in range(5)]

    def _pack(self, words: str) -> str:
        """Return a pack of the operator, who sees all repositories."""
        request = Request("pack", {"query": words, "budget_tokens": 2_000})
        document = self._served.answer(request, Call(caller=Caller("operator"))).data.document
        assert "@" in document
        return str(document)

    def run(self, pairs: int, rng: random.Random) -> list[str]:
        """Return a sentence for each answer that differs."""
        wrong: list[str] = []
        for number in itertools.count():
            if self.pairs >= pairs:
                return wrong
            questions = [
                make_question(rng, self._packs) for _ in range(1 if number % _SINGLE == 0 else _TOGETHER)
            ]
            action, payload = questions[0] if len(questions) == 1 else together(questions)
            # Callers with the same rights get the same bytes.
            expected_of: dict[tuple[str, ...], bytes] = {}
            for _ in range(_CALLERS):
                wrong += self._compare(make_grant(rng), action, payload, expected_of)
                self.actions.update(name for name, _ in questions)
                self.pairs += len(questions)
            if number % 10 == 0:
                print(f"  {self.pairs:,} pairs, {len(wrong)} wrong", flush=True)

    def _compare(
        self, grant: Grant, action: str, payload: dict[str, Any], expected_of: dict[tuple[str, ...], bytes]
    ) -> list[str]:
        """Return a sentence if the answer to a caller is not that of a library without the rest."""
        seen = tuple(name for name, groups in GROUPS.items() if grant.allows(name, groups))
        found = answer(self._served, action, payload, Caller("somebody", grant))
        if seen not in expected_of:
            expected_of[seen] = answer(self._alone(seen), action, payload, Caller("operator"))
        expected = expected_of[seen]
        if found == expected:
            return []
        pairs_of_bytes = enumerate(zip(found, expected, strict=False))
        first = next((at for at, (one, other) in pairs_of_bytes if one != other), 0)
        around = slice(max(0, first - 80), first + 120)
        told = f"{found[around]!r} and not {expected[around]!r} for {grant}: {action} {payload}"
        print(told, flush=True)
        return [told]

    def _alone(self, seen: tuple[str, ...]) -> Dispatcher:
        if seen not in self.alone:
            self.alone[seen] = Dispatcher(library=self._library(seen))
        return self.alone[seen]

    def _library(self, names: tuple[str, ...]) -> Library:
        self._count += 1
        folder = self._base / f"library-{self._count}" / "books"
        library = Library.open(folder)
        library.catalogue.create(self._place(folder) if self._place else "")
        refs = ("main",) if self._place else ()
        for one in names:
            library.add(str(self._base / "repositories" / one), groups=GROUPS[one], refs=refs)
        # An answer waits 15 s for an index, which on a busy machine is not enough for all of them.
        problems = [result.problem for result in library.sync() if result.problem]
        assert not problems, problems
        return library

    def close(self) -> None:
        """Close every library."""
        for dispatcher in (self._served, *self.alone.values()):
            dispatcher.close()


def make_grant(rng: random.Random) -> Grant:
    """Return a grant of names, globs and groups; now and then one of nothing or of everything."""
    patterns = (*GROUPS, *(name.upper() for name in GROUPS), "shop*", "*a*", "????", "none", "sh?p*", "*.js")
    groups = ("web", "core", "money", "none", "")
    if rng.random() < 0.05:
        return rng.choice((EVERYTHING, Grant(()), Grant(("*",), ("web",))))
    # A server keeps few engines: most callers belong to a few teams.
    few = random.Random(rng.randrange(_MOST_ENGINES)) if rng.random() < 0.8 else rng
    return Grant(
        tuple(few.sample(patterns, few.randrange(3))), tuple(few.sample(groups, few.randrange(1, 3)))
    )


def make_question(rng: random.Random, packs: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return an action and its payload; many name a repository that the caller may not see. `packs` cite
    every repository."""
    words, name = " ".join(rng.sample(WORDS, 2)), name_in(rng)
    repository = rng.choice([*GROUPS, "none"])
    path = f"{repository}/{rng.choice(('src', 'docs', 'README.md', 'none.py'))}"
    return rng.choice(
        [
            ("search", {"query": words, "k": rng.randrange(1, 30), "explain": rng.random() < 0.3}),
            ("search", {"query": f"{name} in {repository}"}),
            ("search", {"query": words, "include_paths": [repository]}),
            ("symbols", {"name": name, "ref": f"{repository}@{rng.choice(('HEAD', 'worktree'))}"}),
            ("pack", {"query": f"{repository} {words}", "budget_tokens": rng.randrange(200, 1500)}),
            ("context_pack", {"query": words, "max_chars": 6_000}),
            ("build_context_pack", {"query": name, "budget_tokens": 900}),
            ("refs", {"name": name, "possible": True}),
            ("symbols", {"name": name[: rng.randrange(1, 6)]}),
            ("impact", {"name": name}),
            ("map", {"budget_tokens": rng.randrange(300, 900)}),
            ("grep", {"pattern": rng.choice(WORDS)}),
            ("get", {"ids": [path, f"{path}:1:3", f"{repository}@worktree:{path.partition('/')[2]}:1:2"]}),
            ("files", {}),
            ("stats", {}),
            ("status", {"skipped": True}),
            ("prompt", {"budget_tokens": 600}),
            ("search", {"query": words, "project": repository}),
            (
                "search",
                {"query": rng.choice(("nothing", "qqqqq", f"{name}x")), "file_pattern": f"{repository}/*"},
            ),
            ("symbols", {"name": misspelt(rng, name)}),
            ("refs", {"name": misspelt(rng, name)}),
            ("path", {"start": name, "end": name_in(rng)}),
            ("recall", {"prompt": f"what does {name} of {repository} do with the {words}?"}),
            ("grep", {"pattern": words.split()[0], "count": True, "ref": f"{repository}@main"}),
            ("files", {"path_prefix": repository, "sort": "used_by"}),
            ("symbols", {"limit": rng.randrange(1, 9)}),
            ("verify", {"text": rng.choice(packs), "refresh": rng.random() < 0.3}),
        ]
    )


def misspelt(rng: random.Random, name: str) -> str:
    """Return a name without one of its letters, which suggestions may put right."""
    gone = rng.randrange(len(name))
    return name[:gone] + name[gone + 1 :]


# What an item of a batch may take from the answer to one before it.
_REFERENCES: tuple[dict[str, Any], ...] = (
    {"action": "get", "payload": {"ids": [{"$ref": "#/items/0/data/hits/0/id", "$default": "none"}]}},
    {"action": "search", "payload": {"query": {"$ref": "#/items/1/data/hits/0/path", "$default": "basket"}}},
    {"action": "refs", "payload": {"name": {"$ref": "#/items/0/data/symbols/0/name"}}},
    {"action": "symbols", "payload": {"cursor": {"$ref": "#/items/2/data/next_cursor"}}},
)


def together(questions: Sequence[tuple[str, dict[str, Any]]]) -> tuple[str, dict[str, Any]]:
    """Return questions as one batch. What names a project may not stand in one beside others, so the batch
    asks for it as a path."""
    items = [
        {"id": str(number), "action": action, "payload": dict(payload)}
        for number, (action, payload) in enumerate(questions)
    ]
    items += [{"id": f"of {number}", **one} for number, one in enumerate(_REFERENCES)]
    for item in items:
        if project := item["payload"].pop("project", ""):
            item["payload"]["include_paths"] = [project]
    return "batch", {"items": items, "max_chars": _MOST_CHARS}


def answer(dispatcher: Dispatcher, action: str, payload: Mapping[str, Any], caller: Caller) -> bytes:
    """Return the envelope of an answer without the fingerprint of its folder and what is of the moment."""
    told = encode(dispatcher.answer(Request(action, dict(payload)), Call(caller=caller)))
    assert dispatcher.library is not None
    told = told.replace(ids.root_fingerprint(dispatcher.library.folder).encode(), b"")
    return _CURSOR.sub(rb"\1", _OF_THE_MOMENT.sub(b"", told))


if __name__ == "__main__":
    sys.exit(main())
