"""A token ends long work between two steps, and nothing is lost by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import dump, make_engine, make_tree, memory_engine, session_of

from satchel.cancellation import CancelToken
from satchel.commands.session import CallOptions
from satchel.errors import Cancelled, IndexMissing, Timeout

MANY = {f"many/{number}.py": f"def step_{number}():\n    return {number}\n" for number in range(300)}


def test_a_token_that_nobody_ends_lets_the_work_run() -> None:
    CancelToken().check()
    CancelToken(seconds=60).check()


def test_a_cancelled_token_and_one_whose_time_is_over_end_the_work() -> None:
    cancelled, expired = CancelToken(), CancelToken(seconds=-1)
    cancelled.cancel()
    with pytest.raises(Cancelled):
        cancelled.check()
    with pytest.raises(Timeout):
        expired.check()


def test_a_part_of_the_work_ends_with_the_whole_but_not_the_other_way_round() -> None:
    whole = CancelToken()
    part = whole.limited_to(-1)
    with pytest.raises(Timeout):
        part.check()
    whole.check()
    longer = whole.limited_to(60)
    whole.cancel()
    with pytest.raises(Cancelled):
        longer.check()


def test_a_refresh_that_is_cancelled_leaves_the_last_good_index(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"a.py": "def first():\n    pass\n"})
    with make_engine(root) as engine:
        engine.refresh()
        before = dump(engine)
    make_tree(root, MANY)
    token = CancelToken()
    heard: list[tuple[int, int]] = []

    def cancel_after_the_first_files(done: int, total: int) -> None:
        heard.append((done, total))
        if done:
            token.cancel()

    with make_engine(root).for_caller(token=token, progress=cancel_after_the_first_files) as engine:
        with pytest.raises(Cancelled):
            engine.refresh()
        assert heard[0] == (0, 300) and 0 < heard[-1][0] < 300
        assert dump(engine) == before
    with make_engine(root) as engine:
        engine.refresh()
        assert dump(engine) == dump(memory_engine(root))


def test_a_refresh_whose_time_is_over_leaves_the_last_good_index(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"a.py": "def first():\n    pass\n"})
    with make_engine(root) as engine:
        engine.refresh()
        before = dump(engine)
        make_tree(root, {"b.py": "def second():\n    pass\n"})
        with pytest.raises(Timeout):
            engine.refresh(token=CancelToken(seconds=-1))
        assert dump(engine) == before


def test_the_budget_of_a_reindex_is_not_the_end_of_the_call(tmp_path: Path) -> None:
    root = make_tree(tmp_path, MANY)
    with make_engine(root) as engine:
        session = session_of(engine, CallOptions(max_reindex_ms=1))
        with pytest.raises(IndexMissing, match="1 ms are not enough"):
            session.call("search", {"query": "step"})
        engine.token.check()


def test_a_call_whose_own_time_is_over_says_so(tmp_path: Path) -> None:
    root = make_tree(tmp_path, MANY)
    with make_engine(root).for_caller(token=CancelToken(seconds=-1)) as engine, pytest.raises(Timeout):
        session_of(engine).call("search", {"query": "step"})


def test_an_engine_for_another_caller_keeps_what_was_read_and_not_what_was_told(tmp_path: Path) -> None:
    with memory_engine(make_tree(tmp_path, {"a.py": "def first():\n    pass\n"})) as engine:
        corpus = engine.corpus()
        assert engine.last_refresh is not None
        other = engine.for_caller()
        assert other.corpus() is corpus and other.last_refresh is None and other.notes == ()
