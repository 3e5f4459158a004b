"""A call that does not end by itself: its caller is told, its worker is replaced, the others go on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import SHOP, make_tree
from http_server import Answer, Server, serving

from satchel.serving import worker_pool as pools
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call, Request
from satchel.serving.worker_pool import WorkerPool

SEARCH = Request("search", {"query": "basket total"})
ENDLESS = "**?" * 40 + "z"
ONE_FOLDER_ENDLESS = "*?" * 40 + "z"
pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found by /proc")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_tree(tmp_path_factory.mktemp("work") / "shop", SHOP)
    return make_tree(root, {"src/" + "a" * 120 + ".py": "def basket_of_many() -> None: ...\n"})


@pytest.fixture
def pool(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerPool]:
    monkeypatch.setattr(pools, "GRACE_SECONDS", 0.5)
    opened = WorkerPool([shop], 2)
    opened.start()
    yield opened
    opened.close()


def workers_of(server: Server, count: int) -> list[int]:
    """The workers of a server, once there are so many."""
    threads = Path(f"/proc/{server.process.pid}/task")
    end = time.monotonic() + 30
    while True:
        listed = [each.read_text() for each in threads.glob("*/children")]
        children = [int(number) for number in " ".join(listed).split()]
        found = [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
        if len(found) >= count or time.monotonic() > end:
            return found
        time.sleep(0.1)


def test_a_worker_that_hangs_is_killed_and_replaced_and_its_caller_told(pool: WorkerPool) -> None:
    ready = [pool._take_free(Call(seconds=60)) for _ in range(2)]
    stopped = [worker._process for worker in ready]
    for worker in ready:
        os.kill(worker._process.pid or 0, signal.SIGSTOP)
        pool._free.put(worker)
    told = [pool.answer(SEARCH, Call(seconds=0.2)) for _ in stopped]
    assert [answer.error and answer.error["code"] for answer in told] == ["timeout"] * 2
    assert pool.killed == 2 and not any(process.is_alive() for process in stopped)
    assert pool.answer(SEARCH, Call(seconds=60)).status == "ok"


def test_a_worker_that_does_not_hear_that_its_caller_left_is_killed(pool: WorkerPool) -> None:
    for worker in [pool._take_free(Call(seconds=60)) for _ in range(2)]:
        os.kill(worker._process.pid or 0, signal.SIGSTOP)
        pool._free.put(worker)
    call = Call()
    threading.Timer(0.2, call.token.cancel).start()
    told = pool.answer(SEARCH, call)
    assert told.error and told.error["code"] == "cancelled" and pool.killed == 1


def test_a_worker_that_dies_while_it_starts_is_replaced_without_a_word(shop: Path) -> None:
    opened = WorkerPool([shop], 1)
    opened.start()
    os.kill(opened._workers[0]._process.pid or 0, signal.SIGKILL)
    assert opened.answer(SEARCH).status == "ok"
    opened.close()


def test_a_worker_that_ended_while_nobody_asked_costs_no_call(pool: WorkerPool) -> None:
    for worker in [pool._take_free(Call(seconds=60)) for _ in range(2)]:
        os.kill(worker._process.pid or 0, signal.SIGKILL)
        worker._process.join()
        pool._free.put(worker)
    assert pool.answer(SEARCH).status == "ok"


def test_a_call_whose_worker_is_killed_is_answered_by_another(pool: WorkerPool) -> None:
    asked, other = (pool._take_free(Call(seconds=60)) for _ in range(2))
    os.kill(asked._process.pid or 0, signal.SIGSTOP)
    for worker in (asked, other):  # they are asked in this order
        pool._free.put(worker)
    threading.Timer(0.3, asked._process.kill).start()
    assert pool.answer(SEARCH, Call(seconds=60)).status == "ok" and pool.killed == 0
    assert not asked.is_alive() and other.is_alive()


def test_a_call_that_ends_two_workers_is_not_tried_a_third_time(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def end(worker: pools._Worker, *_: object) -> None:
        asked.append(worker)
        raise EOFError

    monkeypatch.setattr(pools._Worker, "ask", end)
    told = pool.answer(SEARCH, Call(seconds=60))
    assert told.error and (told.error["code"], told.error["hint"]) == ("internal", "ask again")
    assert len(asked) == 2


def test_a_pool_whose_workers_cannot_start_says_so(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])  # a new interpreter is told where to look, and finds nothing
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    opened = WorkerPool([shop], 1)
    opened.start()
    told = opened.answer(SEARCH)
    opened.close()
    assert told.error and told.error["code"] == "internal" and "while they start" in told.message


def test_a_batch_ends_between_two_actions_where_no_process_can_be_killed(shop: Path) -> None:
    dispatcher = Dispatcher([shop])
    items = [{"id": str(number), "action": "search", "payload": {"query": "basket"}} for number in range(64)]
    request = Request("batch", {"items": items, "max_chars": 500_000})
    assert dispatcher.answer(request).status == "ok"
    told = dispatcher.answer(request, Call(seconds=0.01))
    dispatcher.close()
    assert told.error and told.error["code"] == "timeout" and told.meta.duration_ms < 60


def test_two_endless_patterns_leave_a_server_free_for_others(shop: Path) -> None:
    with serving(shop, "--workers", "2") as server:
        told: list[Answer] = []

        def ask(payload: dict[str, object]) -> None:
            told.append(server.command("search", {"query": "basket", **payload}))

        fields = ({"file_pattern": ENDLESS}, {"exclude_paths": [ONE_FOLDER_ENDLESS]})
        threads = [threading.Thread(target=ask, args=(field,)) for field in fields]
        for thread in threads:
            thread.start()
        ask({})
        for thread in threads:
            thread.join()
        assert [answer.status for answer in told] == [200] * 3
        refused = server.command("search", {"query": "basket", "file_pattern": "*" * 5000})
        assert refused.code == "invalid_request" and "at most 1000" in refused.json["message"]
        by_config = server.command("search", {"query": "basket"}, config={"ignore": ["*?" * 600]})
        assert by_config.code == "invalid_request" and "at most 1000" in by_config.json["message"]


def test_a_server_says_that_its_workers_hang_and_heals(shop: Path) -> None:
    with serving(shop, "--workers", "2", "--timeout-seconds", "1") as server:
        end = time.monotonic() + 30
        while server.command("search", {"query": "basket"}).status != 200 and time.monotonic() < end:
            time.sleep(0.2)
        stopped = workers_of(server, 2)
        # A worker that is still loading takes no call. One that is ready has a third thread, which listens;
        # the second one releases old generations.
        while any(len([*Path(f"/proc/{each}/task").iterdir()]) < 3 for each in stopped):
            assert time.monotonic() < end
            time.sleep(0.1)
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        told: list[Answer] = []
        threads = [
            threading.Thread(target=lambda: told.append(server.command("search", {"query": "basket"})))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [(answer.status, answer.code) for answer in told] == [(408, "timeout")] * 2
        time.sleep(1.5)
        hanging = server.call("/ready")
        assert hanging.status == 503 and server.call("/health").status == 200
        assert hanging.json["reason"] == "2 of 2 workers are busy beyond their time"
        while server.call("/ready").status != 200 and time.monotonic() < end + 30:
            time.sleep(0.2)
        assert b"satchel_workers_killed_total 2.0" in server.call("/metrics").body
        assert not set(stopped) & set(workers_of(server, 2))
        while (last := server.command("search", {"query": "basket"})).status != 200:
            assert time.monotonic() < end + 30
        assert last.json["data"]["hits"]
