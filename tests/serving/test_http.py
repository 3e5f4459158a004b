"""The HTTP server: routes, envelopes, streams, metrics, and a clean end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from builders import SHOP, make_tree, run_cli
from http_server import Server, serving
from schema_checks import check_schema

from satchel import plugins
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Request, encode

MANY = {
    f"src/part_{number}.py": f"def part_{number}():\n    return {number}\n" * 100 for number in range(600)
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tree(tmp_path_factory.mktemp("http") / "shop", SHOP)


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    with serving(root, "--workers", "1") as server:
        yield server


def test_an_action_is_answered_with_the_envelope_of_every_other_surface(server: Server, root: Path) -> None:
    answer = server.command("search", {"query": "basket"})
    local = json.loads(encode(Dispatcher([root]).answer(Request("search", {"query": "basket"}))))
    assert answer.status == 200 and answer.json["data"] == local["data"]
    assert answer.json["meta"]["root_fingerprint"] == local["meta"]["root_fingerprint"]
    check_schema(answer.json, "command.response")


@pytest.mark.parametrize("name", plugins.names("command"))
def test_every_command_has_a_route_that_takes_its_payload(server: Server, name: str) -> None:
    payload = (
        {"query": "basket"} if "query" in plugins.load("command", name).request.__struct_fields__ else {}
    )
    by_route, by_envelope = server.call(f"/v1/{name}", payload), server.command(name, payload)
    assert by_route.status == by_envelope.status == 200
    assert by_route.json["status"] == by_envelope.json["status"] and by_route.code == by_envelope.code


def test_a_route_takes_the_project_in_its_payload(server: Server, root: Path) -> None:
    assert server.call("/v1/status", {"project": root.name}).json["status"] == "ok"
    assert server.call("/v1/status", {"project": "other"}).code == "project_not_found"


def test_a_body_may_be_left_out_where_nothing_must_be_said(server: Server) -> None:
    assert server.call("/v1/status", b"").json["status"] == "ok"


def test_an_error_of_a_valid_request_is_answered_with_200(server: Server) -> None:
    answer = server.command("search", {"query": ""})
    assert (answer.status, answer.json["status"], answer.code) == (200, "error", "invalid_query")
    assert server.command("nothing").code == "unsupported"


def test_options_and_config_are_those_of_the_command_api(server: Server) -> None:
    answer = server.command("search", {"query": "basket"}, options={"include_paths": ["docs"]})
    assert {hit["path"] for hit in answer.json["data"]["hits"]} == {"docs/guide.md"}
    assert server.command("search", {"query": "basket"}, config={"profile": "x"}).code == "config_error"


@pytest.mark.parametrize(
    "path", ["/v1/nothing", "/v1/search/", "/v1/../health", "/v1/%2e%2e/health", "//health"]
)
def test_another_route_is_not_there(server: Server, path: str) -> None:
    answer = server.call(path, {})
    assert (answer.status, answer.code) == (404, "unsupported")


def test_another_method_is_refused_with_those_that_are_taken(server: Server) -> None:
    for path, method, allowed in (("/v1/search", "GET", "POST"), ("/health", "DELETE", "GET")):
        answer = server.call(path, method=method)
        assert answer.status == 405 and allowed in answer.headers["allow"] and answer.code == "unsupported"


def test_the_overview_names_every_route(server: Server) -> None:
    text = server.call("/").body.decode()
    assert all(f"POST /v1/{name} " in text for name in ["command", *plugins.names("command")])


def test_the_contract_is_served_as_it_is_published(server: Server) -> None:
    published = Path(__file__).parents[2] / "contracts" / "v1" / "openapi.json"
    assert server.call("/openapi.json").body == published.read_bytes()


def test_it_is_alive_before_it_is_ready_and_says_what_is_missing(tmp_path: Path) -> None:
    with serving(make_tree(tmp_path / "shop", SHOP), "--workers", "1") as server:
        assert server.call("/health").json["status"] == "ok"
        before = server.call("/ready")
        assert before.status == 503 and before.headers["retry-after"] == "1"
        assert [(root["name"], root["ready"]) for root in before.json["roots"]] == [("shop", False)]
        server.command("index")
        after = server.call("/ready")
        assert after.status == 200 and after.json["roots"][0]["generation"] == 1


def test_metrics_count_requests_by_action_and_outcome(server: Server) -> None:
    server.command("search", {"query": "basket"})
    server.command("search", {"query": ""})
    server.command("no_such_action_as_this")
    server.call("/v1/search", b"{")
    text = server.call("/metrics").body.decode()
    for line in (
        'satchel_requests_total{action="search",outcome="ok",status="200"}',
        'satchel_requests_total{action="search",outcome="invalid_query",status="200"}',
        'satchel_requests_total{action="unknown",outcome="unsupported",status="200"}',
        'satchel_requests_total{action="",outcome="invalid_request",status="400"}',
        'satchel_request_seconds_bucket{action="search",le="0.005"}',
        "satchel_requests_in_flight 1.0",
        "process_resident_memory_bytes",
    ):
        assert line in text
    assert "no_such_action_as_this" not in text and "basket" not in text and "shop" not in text
    assert re.search(r'satchel_index_generation\{root="[0-9a-f]{16}"\} [1-9]', text)
    assert re.search(r'satchel_index_age_seconds\{root="[0-9a-f]{16}"\} [0-9]', text)


@pytest.mark.parametrize("path", ["/v1/command", "/v1/index"])
def test_a_stream_tells_progress_and_then_the_answer(server: Server, path: str) -> None:
    body = {"force": True} if path == "/v1/index" else {"action": "index", "payload": {"force": True}}
    answer = server.call(path, body, headers={"accept": "application/x-ndjson"})
    *progress, last = [json.loads(line) for line in answer.body.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert progress and all(set(line["progress"]) == {"done", "total"} for line in progress)
    assert last["response"]["status"] == "ok" and last["response"]["data"]["parsed"] == len(SHOP)


def test_a_stream_may_be_one_of_events(server: Server) -> None:
    answer = server.call("/v1/index", {"force": True}, headers={"accept": "text/event-stream"})
    events = [part.split("\n") for part in answer.body.decode().strip().split("\n\n")]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert events[0][0] == "event: progress" and events[-1][0] == "event: response"
    assert json.loads(events[-1][1].removeprefix("data: "))["response"]["status"] == "ok"


def test_a_caller_who_leaves_ends_the_call(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "many", MANY)
    with serving(root, "--workers", "1", environment={"SATCHEL_WORKERS": "1"}) as server:
        for accept in ("application/x-ndjson", "application/json"):
            with server.connect() as connection:
                connection.sendall(
                    b"POST /v1/index HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\naccept: %s\r\n\r\n"
                    % accept.encode()
                )
                connection.settimeout(0.3)
                with suppress(TimeoutError):
                    connection.recv(300)
        answer = server.command("status")
        assert answer.json["meta"]["index_state"]["index"]["exists"] is False


def test_a_connection_serves_one_request_after_the_other(server: Server) -> None:
    one = b"POST /v1/status HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}"
    last = one.replace(b"host: localhost", b"host: localhost\r\nconnection: close")
    assert server.send(one + one + last).count(b"HTTP/1.1 200 OK") == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_0_and_nothing_said(root: Path, number: int) -> None:
    with serving(root) as server:
        server.command("search", {"query": "basket"})
        started = time.monotonic()
        assert server.end(number) == (0, "")
        assert time.monotonic() - started < 4


def test_an_interrupt_of_all_its_processes_ends_it_as_quietly(root: Path) -> None:
    with serving(root, "--workers", "2", watch=True) as server:
        server.command("search", {"query": "basket"})
        os.killpg(server.process.pid, signal.SIGINT)
        assert server.end(signal.SIGINT) == (0, "")


def test_what_runs_when_it_is_told_to_stop_is_answered(tmp_path: Path) -> None:
    with serving(make_tree(tmp_path / "many", MANY), "--workers", "1") as server:
        with server.connect() as connection:
            connection.sendall(b"POST /v1/index HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n")
            while b"satchel_requests_in_flight 2.0" not in server.call("/metrics").body:
                time.sleep(0.05)
            server.process.send_signal(signal.SIGTERM)
            assert connection.recv(100).startswith((b"HTTP/1.1 200 OK", b"HTTP/1.1 503"))
        assert server.end(signal.SIGTERM)[0] == 0


def test_a_port_in_use_is_said_with_what_to_do(server: Server, root: Path) -> None:
    done = run_cli("serve", "http", "--segment", root, "--port", str(server.port))
    assert (
        done.returncode == 6 and f"port {server.port}" in done.stderr.decode() and b"--port 0" in done.stderr
    )


def test_it_says_where_it_listens_in_one_line(root: Path) -> None:
    import subprocess
    import sys

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "satchel",
        "serve",
        "http",
        "-s",
        str(root),
        "--port",
        str(port),
        "--no-watch",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"satchel: http://127.0.0.1:{port} serves shop\n".encode()
        process.terminate()


def test_several_roots_are_served_by_name(tmp_path: Path) -> None:
    one, two = make_tree(tmp_path / "one", SHOP), make_tree(tmp_path / "two", {"a.md": "# Unicorn\n\nhorn\n"})
    with serving(one, "--segment", str(two), "--workers", "1") as server:
        assert server.command("search", {"query": "unicorn", "project": "two"}).json["data"]["hits"]
        assert not server.command("search", {"query": "unicorn", "project": "one"}).json["data"]["hits"]
        assert [root["name"] for root in server.call("/ready").json["roots"]] == ["one", "two"]


def test_an_answer_is_bytes_that_msgspec_would_write(server: Server) -> None:
    body = server.command("search", {"query": "basket"}).body
    assert msgspec.json.encode(msgspec.json.decode(body)) == body
