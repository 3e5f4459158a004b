"""A library answers with the bytes that one index of its repositories would give."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import SHOP, age, dump_tables, make_tree
from one_index import both_ways

sys.path.insert(0, str(Path(__file__).parents[1] / "packing"))
from random_repositories import WORDS, make_repository, name_in

from satchel.commands.session import CallOptions, Session
from satchel.errors import SatchelError
from satchel.library import joint_snapshot
from satchel.library.joint_snapshot import JointSnapshot
from satchel.library.library_engine import LibraryEngine
from satchel.rendering.packs import PACK_FORMATS
from satchel.storage.memory import MemorySnapshot
from satchel.storage.records import PostingRun
from satchel.storage.sqlite_reader import SqliteSnapshot
from satchel.visible_json import compact

# Names whose order is not that of their paths: a slash sorts behind `-` and `.`.
NAMES = ("shop", "shop-api", "shop.js", "till")
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "{words}", "k": 30, "explain": True}),
    ("search", {"query": "{name}", "k": 10}),
    ("pack", {"query": "{words}", "format": "context", "budget_tokens": 900}),
    ("pack", {"query": "{name}", "format": "terminal", "budget_tokens": 700}),
    ("context_pack", {"query": "{words}", "strategy": "deep"}),
    ("build_context_pack", {"query": "{name} {words}", "budget_tokens": 2000}),
    ("refs", {"name": "{name}", "possible": True}),
    ("symbols", {"name": "{name}"}),
    ("map", {"budget_tokens": 1000}),
    ("map", {"budget_tokens": 600, "focus": "{words}"}),
    ("impact", {"name": "{name}"}),
    ("grep", {"pattern": "{word}", "context": 1}),
    ("prompt", {"budget_tokens": 900}),
    ("stats", {}),
)


# What is said of the index itself and of the moment.
_OWN = re.compile(r'"(index_bytes|generation|\w+_ms)":\d+')


def answer(engine: LibraryEngine, action: str, payload: dict[str, Any]) -> str:
    """Return the answer of a command as the bytes that every surface sends, or its error."""
    session = Session(engine, PACK_FORMATS, CallOptions(max_reindex_ms=0, stale_policy="warn"))  # type: ignore[arg-type]
    try:
        with session:
            return _OWN.sub("", compact(session.call(action, payload)))
    except SatchelError as error:
        return compact(error.as_dict())


def filled(payload: dict[str, Any], **words: str) -> dict[str, Any]:
    return {key: value.format(**words) if isinstance(value, str) else value for key, value in payload.items()}


@pytest.mark.parametrize("seed", range(6))
def test_every_answer_has_the_bytes_of_one_index(seed: int, tmp_path: Path) -> None:
    rng = random.Random(f"library {seed}")
    roots = {
        name: age(make_tree(tmp_path / name, make_repository(4 * seed + n))) for n, name in enumerate(NAMES)
    }
    library, one = both_ways(roots)
    assert isinstance(library.snapshot(), JointSnapshot) and isinstance(one.snapshot(), MemorySnapshot)
    assert dump_tables(library.snapshot()) == dump_tables(one.snapshot())
    for action, payload in CALLS:
        words = " ".join(rng.sample(WORDS, 3))
        asked = filled(payload, words=words, word=rng.choice(WORDS), name=name_in(rng))
        assert answer(library, action, asked) == answer(one, action, asked), (action, asked)


def test_uses_are_those_of_each_repository(tmp_path: Path) -> None:
    """Random repositories have no edges; these have, with the same names on both sides."""
    other = {path.replace("basket", "bag"): text for path, text in SHOP.items()}
    roots = {name: age(make_tree(tmp_path / name, files)) for name, files in (("shop", SHOP), ("api", other))}
    library, one = both_ways(roots)
    asked: list[tuple[str, dict[str, Any]]] = [("map", {"budget_tokens": 500}), ("files", {})]
    for name in ("add_money", "Basket", "Basket.total_price", "shop/src/money.py"):
        asked += [
            ("refs", {"name": name}),
            ("impact", {"name": name}),
            ("pack", {"query": f"who calls {name}"}),
        ]
    for action, payload in asked:
        assert answer(library, action, payload) == answer(one, action, payload), (action, payload)
    uses = {use.path for use in library.references("add_money")}
    assert uses == {"shop/src/basket.py", "api/src/bag.py"}
    assert {use.path for use in library.references("shop/src/money.py")} == {"shop/src/basket.py"}


def test_only_a_repository_that_changed_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = [age(make_tree(tmp_path / name, make_repository(number))) for number, name in enumerate(NAMES)]
    library = LibraryEngine.of_folders(roots)
    library.ensure_fresh()
    library.search("basket total")
    read: list[str] = []
    posting_runs = SqliteSnapshot.posting_runs

    def noted(snapshot: SqliteSnapshot) -> list[PostingRun]:
        read.append(snapshot.version)
        return posting_runs(snapshot)

    monkeypatch.setattr(SqliteSnapshot, "posting_runs", noted)
    (roots[1] / "new.py").write_text("def freshly_added():\n    return 1\n")
    library.ensure_fresh()
    hits = library.search("freshly_added")[0]
    assert "shop-api/new.py" in str(hits)
    assert len(read) == 1
    assert library.corpus().snapshot is library.snapshot()
    with LibraryEngine.of_folders(roots) as fresh:
        fresh.ensure_fresh()
        for query in ("basket total", "freshly_added", "where is a basket"):
            assert library.search(query)[0] == fresh.search(query)[0]


def test_units_of_repositories_are_held_once(tmp_path: Path) -> None:
    roots = [age(make_tree(tmp_path / name, make_repository(number))) for number, name in enumerate(NAMES)]
    with LibraryEngine.of_folders(roots) as library:
        library.ensure_fresh()
        corpus, snapshot = library.corpus(), library.snapshot()
        assert isinstance(snapshot, JointSnapshot)
        for shard in snapshot.shards.values():
            assert np.shares_memory(shard.runs.lines, corpus.first_lines)
            assert np.shares_memory(shard.runs.vectors, snapshot.posting_runs().vectors)
            assert shard.snapshot._table is None  # type: ignore[attr-defined]


def test_names_are_looked_up_until_there_are_enough(tmp_path: Path) -> None:
    roots = [age(make_tree(tmp_path / name, SHOP)) for name in NAMES]
    with LibraryEngine.of_folders(roots) as library:
        library.ensure_fresh()
        snapshot = library.snapshot()
        every = snapshot.symbols_named_many(["add_money", "nowhere"])
        assert list(every["add_money"]) == snapshot.symbols_named("add_money") and not every["nowhere"]
        some = snapshot.symbols_named_many(["add_money"], lambda name, found: len(found) > 1)
        assert list(some["add_money"]) == list(every["add_money"])[:2]


def test_few_repositories_keep_what_their_edges_rest_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = [age(make_tree(tmp_path / name, SHOP)) for name in NAMES]
    monkeypatch.setattr(joint_snapshot, "_CONSULTED_KEPT", 2)
    with LibraryEngine.of_folders(roots) as library:
        library.ensure_fresh()
        for name in (*NAMES, NAMES[1]):
            assert {use.path for use in library.references(f"{name}/src/money.py")} == {
                f"{name}/src/basket.py"
            }
        snapshot = library.snapshot()
        assert isinstance(snapshot, JointSnapshot)
        held = [name for name, shard in snapshot.shards.items() if shard.snapshot._consulting is not None]  # type: ignore[attr-defined]
        assert held == sorted((NAMES[1], NAMES[-1]))
