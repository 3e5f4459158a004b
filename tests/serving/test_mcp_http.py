"""MCP over HTTP: the same guard as every other HTTP server has, and both revisions behind it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import SHOP, age, make_tree, run_cli
from mcp_clients import REVISIONS, agent
from surfaces import Server, serving

TOKEN = "a-token-of-some-length"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
JSON = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return age(make_tree(tmp_path_factory.mktemp("mcp") / "shop", SHOP))


@pytest.fixture(scope="module")
def server(shop: Path) -> Iterator[Server]:
    with serving("mcp", shop, "--no-watch", "--max-body-bytes", "100000") as found:
        yield found


@pytest.fixture(scope="module")
def guarded(shop: Path) -> Iterator[Server]:
    with serving("mcp", shop, "--no-watch", environment={"SATCHEL_TOKEN": TOKEN}) as found:
        yield found


def status(
    server: Server, body: bytes = json.dumps(CALL).encode(), path: str = "/mcp", **headers: str
) -> int:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST" if path == "/mcp" else "GET", path, body, {**JSON, **named})
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_call_without_a_session_is_answered(server: Server) -> None:
    assert status(server) == 200


def test_the_name_of_another_host_is_refused(server: Server) -> None:
    assert status(server, host="evil.example") == 421


def test_a_page_of_another_origin_is_refused(server: Server) -> None:
    assert status(server, origin="https://evil.example") == 403


def test_a_body_that_is_too_large_is_refused(server: Server) -> None:
    assert status(server, b"x" * 200_000) == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"method": 5}', b"\xff" * 100])
def test_what_is_no_message_is_refused(server: Server, body: bytes) -> None:
    assert status(server, body) == 400 and status(server) == 200


def test_health_needs_no_token_and_calls_do(guarded: Server) -> None:
    assert status(guarded, path="/health") == 200
    assert status(guarded) == status(guarded, authorization="Bearer wrong") == 401
    assert status(guarded, authorization=f"Bearer {TOKEN}") == 200


def test_it_ends_by_a_signal(shop: Path) -> None:
    with serving("mcp", shop, "--no-watch") as found:
        os.kill(found.process.pid, signal.SIGTERM)
        assert found.process.wait(10) == 0


def test_a_port_in_use_is_said_with_what_to_do(shop: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run_cli("serve", "mcp", "--segment", shop, "--port", str(taken.getsockname()[1]))
    assert done.returncode == 6 and b"--port" in done.stderr


@pytest.mark.parametrize("revision", REVISIONS)
def test_clients_at_once_get_their_own_answers(server: Server, revision: str) -> None:
    url = f"http://{server.host}:{server.port}/mcp"
    with agent(url, revision) as one, agent(url, revision) as other:
        assert one.tool("symbols", name="add_money").data["total"] == 1
        assert other.tool("symbols", name="OpenTill").data["total"] == 1
