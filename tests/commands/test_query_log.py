"""The log of questions: off unless the user wants it, and without secrets and paths."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from builders import SHOP, make_tree

from satchel import Engine
from satchel.commands import query_log, search, stats

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("SATCHEL_QUERY_LOG", "1")
    opened = Engine.open(make_tree(tmp_path, SHOP))
    opened.refresh()
    return opened


def ask(engine: Engine, query: str) -> None:
    response = search.run(engine, search.SearchRequest(query=query))
    query_log.record(engine, "search", query, response, time.perf_counter())


def log(engine: Engine) -> Path:
    folder = engine.store.scratch
    assert folder is not None
    return folder / query_log.FILE


def test_nothing_is_written_unless_the_user_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SATCHEL_QUERY_LOG", raising=False)
    engine = Engine.open(make_tree(tmp_path, {**SHOP}))
    engine.refresh()
    ask(engine, "basket")
    assert not log(engine).exists() and stats.run(engine, stats.StatsRequest()).queries is None


def test_stats_tell_what_found_nothing_and_what_was_saved(engine: Engine) -> None:
    for query in ("basket total", "zzqqxx", "zzqqxx"):
        ask(engine, query)
    told = stats.run(engine, stats.StatsRequest()).queries
    assert told and (told.asked, told.without_answer, told.unanswered) == (3, 2, ["zzqqxx"])


@pytest.mark.parametrize(
    "query",
    [
        f"why is {TOKEN} refused",
        "postgres://me:s3cr3tPassw0rdX@db/x fails",
        "error in /home/someone/work/app.py line 3",
        r"C:\Users\someone\app.py",
        "see ~/work/notes.txt",
    ],
)
def test_secrets_and_paths_are_not_kept(engine: Engine, query: str) -> None:
    ask(engine, query)
    kept = log(engine).read_text()
    assert TOKEN not in kept and "s3cr3t" not in kept and "someone" not in kept and "notes" not in kept


def test_the_log_stays_small(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_log, "MOST_BYTES", 2000)
    for number in range(60):
        ask(engine, f"basket {number}")
    assert log(engine).stat().st_size < 2300 and "basket 59" in log(engine).read_text()


def test_a_line_that_was_cut_short_is_passed_over(engine: Engine) -> None:
    ask(engine, "basket")
    with log(engine).open("ab") as stream:
        stream.write(b'{"at": 1, "act')
    told = stats.run(engine, stats.StatsRequest()).queries
    assert told and told.asked == 1


def test_a_project_file_cannot_turn_it_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SATCHEL_QUERY_LOG", raising=False)
    root = make_tree(tmp_path, {**SHOP, "satchel.toml": "query_log = true\n"})
    with pytest.raises(Exception, match="query_log"):
        Engine.open(root)


def test_a_link_in_its_place_is_not_followed(engine: Engine, tmp_path: Path) -> None:
    target = tmp_path / "outside.txt"
    log(engine).symlink_to(target)
    ask(engine, "basket")
    assert not target.exists()
