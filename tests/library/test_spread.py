"""A library whose repositories lie with the workers of a cluster answers with the same bytes as without it."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import SHOP, git, git_repo, make_tree, run_cli

sys.path.insert(0, str(Path(__file__).parents[1] / "packing"))
from random_repositories import WORDS, make_repository, name_in
from test_joint_snapshot import CALLS, answer, filled

from satchel.library import held_shards, spread_postings
from satchel.library.cluster import _ACTOR_SECONDS, Cluster
from satchel.library.library import Library
from satchel.library.library_engine import LibraryEngine
from satchel.retrieval.query import parse_query
from satchel.retrieval.query_postings import look_up
from satchel.retrieval.query_terms import weigh_terms

NAMES = ("shop", "shop-api", "shop.js", "till", "bank", "docs", "tax")


class Here:
    """A cluster whose workers are this process: every step is taken by the code that a worker runs."""

    def __init__(self, count: int) -> None:
        self._workers = [
            held_shards.HeldShards(held_shards._LibraryOfWorker().open_snapshot) for _ in range(count)
        ]
        self.fails = False

    def workers(self) -> list[str]:
        return [str(number) for number in range(len(self._workers))]

    def ask(self, kind: Any, calls: dict[str, tuple[Any, ...]], here: Any) -> list[Any]:
        if self.fails:
            return [here(*arguments) for arguments in calls.values()]
        return [self._workers[int(worker)].answer(*arguments) for worker, arguments in calls.items()]


def spread_over(library: Library, cluster: Any) -> LibraryEngine:
    return library.engine(cluster=cluster)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("spread")
    made = Library.open(str(folder / "library"))
    made.catalogue.create()
    for number, name in enumerate(NAMES):
        made.add(str(git_repo(folder / name, make_repository(number))), refs=["main"])
    assert not any(result.problem for result in made.sync())
    return made


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster("local:2") as opened:
        yield opened


def asked(rng: random.Random, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for _ in range(count):
        for action, payload in CALLS:
            words = " ".join(rng.sample(WORDS, rng.choice((1, 2, 3, 5))))
            yield action, filled(payload, words=words, word=rng.choice(WORDS), name=name_in(rng))


def test_every_answer_has_the_bytes_of_one_process(library: Library, cluster: Cluster) -> None:
    with closing(library.engine()) as alone, closing(spread_over(library, cluster)) as spread:
        assert spread.corpus().file_vectors is None and alone.corpus().file_vectors is not None
        for action, payload in asked(random.Random("spread"), 2):
            assert answer(spread, action, payload) == answer(alone, action, payload), (action, payload)


@pytest.mark.parametrize("count", [1, 3])
def test_shards_that_are_left_out_change_no_answer(
    library: Library, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Where few files are taken, most shards cannot reach the top; which are scored first makes no
    difference."""
    monkeypatch.setattr(spread_postings, "_FIRST_LEAST", 1)
    rng = random.Random(f"left out {count}")
    with closing(library.engine()) as alone, closing(spread_over(library, Here(count))) as spread:
        corpora = alone.corpus(), spread.corpus()
        accepted = corpora[0].unit_offsets >= 0
        for _ in range(200):
            names = [name_in(rng) for _ in range(rng.choice((0, 0, 1, 2)))]
            text = " ".join([*rng.sample(WORDS, rng.choice((1, 2, 3))), *names])
            terms = weigh_terms(
                parse_query(rng.choice((text, f"{text}\n\n{' '.join(rng.sample(WORDS, 4))}")))
            )
            one, many = (look_up(corpus, terms) for corpus in corpora)
            for size in (1, 3, 30):
                kept = accepted & (np.arange(len(accepted)) % rng.choice((1, 2)) == 0)
                assert np.array_equal(one.best_files(kept, size), many.best_files(kept, size)), text
        looked = spread.store.spread
        assert looked is not None and looked.skipped > 50 and looked.scored > 50, (
            looked.skipped,
            looked.scored,
        )


def test_a_killed_worker_costs_no_answer(library: Library) -> None:
    calls = list(asked(random.Random("killed"), 1))[:3]
    with Cluster("local:2") as cluster, closing(spread_over(library, cluster)) as spread:
        with closing(library.engine()) as alone:
            expected = [answer(alone, *call) for call in calls]
        assert [answer(spread, *call) for call in calls] == expected
        os.kill(next(iter(cluster._client.run(os.getpid).values())), signal.SIGKILL)
        started = time.monotonic()
        assert [answer(spread, *call) for call in calls] == expected
        assert time.monotonic() - started < _ACTOR_SECONDS  # no step waits for the one that is gone


def test_without_a_scheduler_the_process_answers_by_itself(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is started while the scheduler is away."""
    monkeypatch.setattr("satchel.library.cluster._LOOK_SECONDS", 0.2)
    with closing(spread_over(library, Cluster("tcp://127.0.0.1:1"))) as spread:
        with closing(library.engine()) as alone:
            assert spread.search("customer budget") == alone.search("customer budget")
        assert spread.store.spread is not None and spread.store.spread._holders.keys() == set(NAMES)


def test_a_commit_is_seen_and_one_that_a_worker_no_longer_finds_is_read_here(tmp_path: Path) -> None:
    repository = git_repo(tmp_path / "shop", SHOP)
    library = Library.open(str(tmp_path / "library"))
    library.catalogue.create()
    library.add(str(repository), refs=["main"])
    list(library.sync())
    here = Here(1)
    with closing(spread_over(library, here)) as spread, closing(library.engine()) as alone:
        before = alone.search("unicorns")
        with spread.pinned():
            make_tree(repository, {"new.py": "def sell_unicorns():\n    pass\n"})
            git(repository, "add", "-A")
            git(repository, "commit", "-q", "-m", "unicorns")
            list(library.sync())
            with pytest.raises(held_shards.GenerationGone):
                spread.search("unicorns")
            here.fails = True
            assert spread.search("unicorns") == before
        here.fails = False
        assert spread.search("sell unicorns")[0][0].path == "shop/new.py"


def test_shards_that_nobody_asks_for_any_more_make_room(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_shards, "_HELD_BYTES", 0)
    here: Any = Here(1)
    (worker,) = here._workers
    for patterns, held in (((), set(NAMES)), ((NAMES[0],), {NAMES[0]})):
        spread, alone = library.engine(patterns, cluster=here), library.engine(patterns)
        with closing(spread), closing(alone):
            assert spread.search("customer budget") == alone.search("customer budget")
        assert {name for _, name, _ in worker._held} == held


def test_the_command_line_spreads_a_library(library: Library) -> None:
    words = ("search", "customer budget", f"--library={library.folder}")
    assert run_cli(*words, "--cluster", "local:1").stdout == run_cli(*words).stdout
    refused = run_cli("search", "customer", "--cluster", "local:1", "-s", ".")
    assert b"--library" in refused.stderr and refused.returncode == 2


def test_what_this_process_reads_itself_is_read_anew_after_a_rest(library: Library) -> None:
    here = Here(1)
    here.fails = True
    with closing(spread_over(library, here)) as spread:
        found = spread.search("customer budget")
        spread.release()
        assert spread.search("router schema")[0] and spread.search("customer budget") == found
