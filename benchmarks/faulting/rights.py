"""Does an answer tell anything of a repository outside the grant of its caller?

    python benchmarks/faulting/rights.py [--pairs 100000] [--seed 1]

Random callers (grants by name, glob and group) ask random questions of one served library of six tiny
repositories, in turns, as callers of one server do: one question by itself, or forty in a batch, each by
several callers. Every answer is compared, byte for byte, with that of a library which really has only the
repositories of the grant: the whole envelope, with its counts, hints, state and errors. Only the folder of
the library, its fingerprint and the milliseconds are left out of the comparison. One line of figures is kept
in results/rights.txt; exit code 1 means that an answer differed.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "packing")]

from builders import age, make_tree  # noqa: E402
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
_MOST_SHOWN = 5
_CALLERS = 5  # that ask the same, one after the other
_TOGETHER = 40  # questions of a batch: the folders are looked at once for all of them, half of the cost
_SINGLE = 10  # of so many rounds, one asks a question by itself
_MOST_CHARS = 500_000


def main() -> int:
    """Ask, compare, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100_000, help="pairs of a caller and a question")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        wrong = trial.run(options.pairs, random.Random(options.seed))
        trial.close()
    seconds = time.process_time() - started
    line = (
        f"rights     {options.pairs:,} pairs of caller and question, {len(trial.asked)} actions,"
        f" {len(trial.alone)} sets of repositories, seed {options.seed};"
        f" wrong: {len(wrong)} ({seconds:.0f} CPU s)"
    )
    print(line, *wrong[:_MOST_SHOWN], sep="\n")
    RESULTS.write_text(f"Figures of benchmarks/faulting/rights.py.\n{line}\n")
    return bool(wrong)


class Trial:
    """One library that is asked by everybody, and one for each set of repositories that somebody may see."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._count = 0
        self.asked: Counter[str] = Counter()
        self.alone: dict[tuple[str, ...], Dispatcher] = {}
        for number, name in enumerate(GROUPS):
            make_tree(base / "repositories" / name, make_repository(number))
        # A file of this moment is read again, which writes another generation between two answers.
        age(base / "repositories")
        self._served = Dispatcher(library=self._library((*GROUPS,)))

    def run(self, pairs: int, rng: random.Random) -> list[str]:
        """Return a sentence for each answer that differs."""
        wrong: list[str] = []
        done = 0
        for number in itertools.count():
            if done >= pairs:
                return wrong
            questions = [make_question(rng) for _ in range(1 if number % _SINGLE == 0 else _TOGETHER)]
            action, payload = questions[0] if len(questions) == 1 else together(questions)
            # Callers with the same rights get the same bytes.
            expected_of: dict[tuple[str, ...], bytes] = {}
            for _ in range(_CALLERS):
                wrong += self._compare(make_grant(rng), action, payload, expected_of)
                self.asked.update(name for name, _ in questions)
                done += len(questions)
            if number % 10 == 0:
                print(f"  {done:,} pairs, {len(wrong)} wrong", flush=True)

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
        told = f"{grant}: {action} {payload}: {found[around]!r} and not {expected[around]!r}"
        print(told, flush=True)
        return [told]

    def _alone(self, seen: tuple[str, ...]) -> Dispatcher:
        if seen not in self.alone:
            self.alone[seen] = Dispatcher(library=self._library(seen))
        return self.alone[seen]

    def _library(self, names: tuple[str, ...]) -> Library:
        self._count += 1
        # A batch counts its characters, and the folder stands in them: all names of folders are as long.
        library = Library.open(self._base / f"{self._count:03}" / "books")
        library.catalogue.create()
        for one in names:
            library.add(str(self._base / "repositories" / one), groups=GROUPS[one])
        # An answer waits 15 s for an index, which on a busy machine is not enough for all of them.
        assert not any(result.problem for result in library.sync())
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


def make_question(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Return an action and its payload; many name a repository that the caller may not see."""
    words, name = " ".join(rng.sample(WORDS, 2)), name_in(rng)
    repository = rng.choice([*GROUPS, "none"])
    path = f"{repository}/{rng.choice(('src', 'docs', 'README.md', 'none.py'))}"
    return rng.choice(
        [
            ("search", {"query": words, "k": rng.randrange(1, 30), "explain": rng.random() < 0.3}),
            ("search", {"query": f"{name} in {repository}"}),
            ("search", {"query": words, "include_paths": [repository]}),
            ("search", {"query": words, "ref": f"{repository}@{rng.choice(('HEAD', 'worktree'))}"}),
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
        ]
    )


def together(questions: Sequence[tuple[str, dict[str, Any]]]) -> tuple[str, dict[str, Any]]:
    """Return questions as one batch. What names a project may not stand in one beside others, so the batch
    asks for it as a path."""
    items = [
        {"id": str(number), "action": action, "payload": dict(payload)}
        for number, (action, payload) in enumerate(questions)
    ]
    for item in items:
        if project := item["payload"].pop("project", ""):
            item["payload"]["include_paths"] = [project]
    return "batch", {"items": items, "max_chars": _MOST_CHARS}


def answer(dispatcher: Dispatcher, action: str, payload: Mapping[str, Any], caller: Caller) -> bytes:
    """Return the envelope of an answer without what is said of the folder and of the moment."""
    told = encode(dispatcher.answer(Request(action, dict(payload)), Call(caller=caller)))
    assert dispatcher.library is not None
    folder = dispatcher.library.folder
    told = told.replace(str(folder).encode(), b"").replace(ids.root_fingerprint(folder).encode(), b"")
    return _OF_THE_MOMENT.sub(b"", told)


if __name__ == "__main__":
    sys.exit(main())
