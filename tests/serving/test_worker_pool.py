"""Several processes behind one dispatcher: the same answers, whatever happens to one of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from builders import SHOP, make_tree

from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call, Request, Response, encode
from satchel.serving.worker_pool import WorkerPool

SEARCH = Request("search", {"query": "basket total"})


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tree(tmp_path_factory.mktemp("work") / "shop", SHOP)


@pytest.fixture(scope="module")
def pool(shop: Path) -> Iterator[WorkerPool]:
    opened = WorkerPool([shop], 2)
    opened.start()
    yield opened
    opened.close()


def data(response: Response) -> object:
    return msgspec.json.decode(encode(response))["data"]


def test_a_worker_gives_the_answer_of_a_dispatcher(pool: WorkerPool, shop: Path) -> None:
    dispatcher = Dispatcher([shop])
    assert data(pool.answer(SEARCH)) == data(dispatcher.answer(SEARCH))
    dispatcher.close()


def test_errors_come_back_typed(pool: WorkerPool) -> None:
    told = pool.answer(Request("symbols", {"name": "no_such_name"}))
    assert told.error and told.error["code"] == "symbol_not_found" and told.meta.index_state
    unknown = pool.answer(Request("search", {"query": "x", "project": "elsewhere"}))
    assert unknown.error and unknown.error["code"] == "project_not_found"


def test_many_callers_at_once_get_their_own_answers(pool: WorkerPool) -> None:
    names = ["Basket", "add_money", "README", "price"] * 5
    found: dict[int, object] = {}

    def ask(number: int) -> None:
        found[number] = data(pool.answer(Request("search", {"query": names[number]})))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(names))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number]["query"] == name for number, name in enumerate(names))  # type: ignore[index]


def test_a_worker_that_is_killed_is_replaced(pool: WorkerPool) -> None:
    for worker in list(pool._workers):
        os.kill(worker._process.pid or 0, signal.SIGKILL)
    told = [pool.answer(SEARCH) for _ in range(4)]
    assert told[-1].status == "ok" and told[-2].status == "ok"
    assert all(one.status == "ok" or (one.error and one.error["code"] == "internal") for one in told)


def test_a_cancelled_call_ends_and_the_worker_goes_on(pool: WorkerPool, shop: Path) -> None:
    for number in range(300):
        (shop / f"more_{number}.py").write_text(f"def more_{number}() -> int:\n    return {number}\n" * 20)
    call = Call()
    threading.Timer(0.3, call.token.cancel).start()
    started = time.monotonic()
    told = pool.answer(Request("index", {"force": True}), call)
    assert told.status == "ok" or (told.error and told.error["code"] == "cancelled")
    assert time.monotonic() - started < 20 and pool.answer(SEARCH).status == "ok"


def test_a_worker_can_index_over_all_cores(tmp_path: Path) -> None:
    line = "enough text for a pool of processes and little to do with it " * 12 + "\n"
    big = make_tree(tmp_path, {f"big_{number}.txt": line * 2_200 for number in range(2)})
    opened = WorkerPool([big], 1)
    opened.start()
    told = opened.answer(Request("index", {"force": True}))
    opened.close()
    assert told.status == "ok", told.error


def test_a_call_that_waits_too_long_for_a_worker_is_told(shop: Path) -> None:
    empty = WorkerPool([shop], 0)
    told = empty.answer(SEARCH, Call(seconds=0.1))
    assert told.error and told.error["code"] == "timeout"
    empty.close()


def test_no_process_is_left_when_it_is_closed(shop: Path) -> None:
    opened = WorkerPool([shop], 2)
    opened.start()
    assert opened.answer(SEARCH).status == "ok"
    processes = [worker._process for worker in opened._workers]
    opened.close()
    assert not any(process.is_alive() for process in processes)


@pytest.mark.skipif(os.name == "nt", reason="signals are not sent to single processes there")
def test_a_worker_that_is_still_starting_hears_of_no_interrupt(shop: Path) -> None:
    opened = WorkerPool([shop], 1)
    opened.start()
    process = opened._workers[0]._process
    for _ in range(30):
        os.kill(process.pid or 0, signal.SIGINT)
        time.sleep(0.02)
    assert data(opened.answer(SEARCH))
    assert opened._workers[0]._process is process and process.is_alive()
    opened.close()


def test_a_number_that_no_message_carries_is_refused_and_costs_no_worker(pool: WorkerPool) -> None:
    for _ in range(3):  # one more than there are workers
        told = pool.answer(Request("search", {"query": "basket", "k": 10**30}), Call(seconds=20))
        assert told.error and told.error["code"] == "invalid_request"
    assert pool.answer(SEARCH, Call(seconds=20)).status == "ok"
