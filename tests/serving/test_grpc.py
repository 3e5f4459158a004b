"""gRPC: a real server process, a real client, and one that knows nothing but reflection."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import socket
import string
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from builders import SHOP, age, make_tree, run_cli
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from surfaces import OverGrpc, Server, envelope_of, serving

from satchel import answer, plugins
from satchel.serving.grpc.contract import FILE_NAME, SERVICE, descriptor, proto_text
from satchel.serving.grpc.service import items_field

PUBLISHED = Path(__file__).parent.parent.parent / "contracts" / "v1" / "satchel.proto"
STATUS = grpc.StatusCode
TOKEN = "a-token-of-24-characters"
AT_ONCE = 8.0  # seconds in which a busy machine ends a process that waits for nothing
BEARER = (("authorization", f"Bearer {TOKEN}"),)
SMALL = 100_000  # bytes a request may have on the servers of these tests
MANY = {  # takes seconds to index, in several steps
    f"many/part_{number}.py": "".join(
        f"def step_{number}_{line}(value):\n    return value * {line}\n\n\n" for line in range(40)
    )
    for number in range(900)
}

Connect = Callable[[Server], OverGrpc]


@pytest.fixture
def connect() -> Iterator[Connect]:
    opened: list[OverGrpc] = []

    def open_client(server: Server) -> OverGrpc:
        opened.append(OverGrpc(server))
        return opened[-1]

    yield open_client
    for client in opened:
        client.close()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return age(make_tree(tmp_path_factory.mktemp("grpc") / "shop", SHOP))


@pytest.fixture(scope="module")
def server(shop: Path) -> Iterator[Server]:
    with serving("grpc", shop, "--no-watch", "--max-body-bytes", str(SMALL)) as started:
        yield started


@pytest.fixture
def client(server: Server, connect: Connect) -> OverGrpc:
    return connect(server)


@pytest.fixture
def growing(tmp_path: Path) -> Path:
    """A folder whose index is there, but lacks most of its files."""
    root = age(make_tree(tmp_path / "growing", SHOP))
    assert answer({"action": "index", "payload": {"project": str(root)}})["status"] == "ok"
    return make_tree(root, MANY)


def refused(call: Callable[[], Any]) -> tuple[Any, Any]:
    """The status and the envelope of a call that gets no answer."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    error: Any = caught.value
    return error.code(), envelope_of(error)


def begun(client: OverGrpc) -> Any:
    """A call that is in the midst of indexing."""
    events = client.stream(client.request("search", {"query": "step"}))
    assert next(events).HasField("progress")
    return events


def generation(root: Path) -> tuple[int, int]:
    data = answer({"action": "status", "payload": {"project": str(root)}})["data"]
    return data["generation"], data["files"]


def health_of(client: OverGrpc, service: str = "") -> int:
    stub = health_pb2_grpc.HealthStub(client.channel)
    status: int = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10).status
    return status


def test_the_published_proto_is_that_of_the_code(update_golden: bool) -> None:
    if update_golden:
        PUBLISHED.write_text(proto_text())
    assert PUBLISHED.read_text() == proto_text()


@pytest.mark.skipif(importlib.util.find_spec("grpc_tools") is None, reason="grpcio-tools is not installed")
def test_protoc_reads_the_published_proto_as_we_do(tmp_path: Path) -> None:
    from grpc_tools import protoc

    make_tree(tmp_path, {FILE_NAME: PUBLISHED.read_text()})
    out = tmp_path / "out"
    assert protoc.main(["protoc", f"-I{tmp_path}", f"--descriptor_set_out={out}", FILE_NAME]) == 0
    assert descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file[0] == descriptor()


def test_a_command_is_answered_by_the_envelope(client: OverGrpc) -> None:
    told = json.loads(client.command(client.request("search", {"query": "basket total"})).json)
    assert told["status"] == "ok" and told["data"]["hits"][0]["path"] == "src/basket.py"
    assert told["meta"]["index_state"]["index"]["exists"]


def test_an_answer_that_is_an_error_is_still_an_answer(client: OverGrpc) -> None:
    told = json.loads(client.command(client.request("search", {"query": " "})).json)
    assert told["status"] == "error" and told["error"]["code"] == "invalid_query"
    told = json.loads(client.command(client.request("no_such", {})).json)
    assert told["error"]["code"] == "unsupported"


@pytest.mark.parametrize(
    ("action", "payload"),
    [
        ("search", {"query": "basket"}),
        ("search", {"query": "zzzz"}),
        ("context_pack", {"query": "basket"}),
        ("refs", {"name": "add_money"}),
        ("index", {}),
    ],
)
def test_a_stream_holds_the_same_answer_in_parts(
    action: str, payload: dict[str, Any], client: OverGrpc
) -> None:
    request = client.request(action, payload)
    whole = json.loads(client.command(request).json)["data"]
    *items, last = client.stream(request)
    data = json.loads(last.response_json)["data"]
    assert last.list not in data
    if last.list:
        data[last.list] = [json.loads(event.item_json) for event in items]
    assert data.keys() >= whole.keys() and {name: data[name] for name in whole if name != "meta"} == {
        name: value for name, value in whole.items() if name != "meta"
    }


def test_a_stream_that_fails_ends_with_the_error(client: OverGrpc) -> None:
    (event,) = client.stream(client.request("refs", {"name": "no_such_name"}))
    assert json.loads(event.response_json)["error"]["code"] == "symbol_not_found" and event.list == ""


def test_the_items_of_an_answer_are_found_from_its_types() -> None:
    found = {name: items_field(plugins.load("command", name).response) for name in plugins.names("command")}
    assert found["search"] == "hits" and found["get"] == "chunks" and found["refs"] == "references"
    assert found["context_pack"] == found["batch"] == found["verify"] == "items"
    assert found["build_context_pack"] == found["eval"] == found["index"] == ""


@pytest.mark.parametrize(
    "message",
    [
        b"\xff\xff\xff",
        b"\x0a\x04\xff\xfe\xfd\xfc",
        b"",
        b"\x0a\x01{",
        b"\x0a\x02[]",
        b'\x0a\x0f{"payload": {}}',
        b"\x0a\x06\xed\xa0\x80{}\n",
    ],
    ids=["no message", "invalid UTF-8", "empty", "malformed JSON", "a list", "no action", "surrogate"],
)
def test_what_is_no_request_is_an_invalid_argument(message: bytes, client: OverGrpc) -> None:
    for call in (client.command, lambda given: list(client.stream(given))):
        status, envelope = refused(lambda call=call: call(message))
        assert status is STATUS.INVALID_ARGUMENT and envelope["error"]["code"] == "invalid_request"


def test_a_refusal_fits_into_metadata_whatever_it_quotes(client: OverGrpc) -> None:
    body = json.dumps({"action": "search", "ä" * 10_000: 1}, ensure_ascii=False)
    status, envelope = refused(lambda: client.command(client.request("x", {}).__class__(json=body)))
    assert status is STATUS.INVALID_ARGUMENT and len(json.dumps(envelope)) < 8000


def test_a_request_over_the_limit_is_refused_with_the_limit(client: OverGrpc) -> None:
    status, envelope = refused(lambda: client.command(client.request("search", {"query": "x" * SMALL})))
    assert status is STATUS.RESOURCE_EXHAUSTED and envelope["error"]["code"] == "too_large"
    assert envelope["error"]["details"]["max_bytes"] == SMALL
    with pytest.raises(grpc.RpcError) as caught:  # far above it nothing is read, so nothing of ours is said
        client.command(client.request("search", {"query": "x" * SMALL * 3}))
    assert caught.value.code() is STATUS.RESOURCE_EXHAUSTED


def test_a_compressed_message_cannot_unfold_into_a_large_one(client: OverGrpc) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        client.command(b"\0" * SMALL, compression=grpc.Compression.Gzip)
    assert caught.value.code() is STATUS.UNIMPLEMENTED


def test_fifty_calls_of_eight_threads_get_the_same_answer(client: OverGrpc) -> None:
    def ask(_: int) -> Any:
        return client.call("search", {"query": "basket total"})

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(50)))
    assert answers[0][0]["hits"] and all(told == answers[0] for told in answers)


def test_progress_is_told_while_an_index_is_made(growing: Path, connect: Connect) -> None:
    with serving("grpc", growing, "--no-watch") as server:
        client = connect(server)
        patient = {"max_reindex_ms": 120_000}  # also on a busy machine
        events = list(client.stream(client.request("search", {"query": "step"}, options=patient)))
    steps = [event.progress for event in events if event.HasField("progress")]
    assert len(steps) > 2 and [step.done for step in steps] == sorted(step.done for step in steps)
    assert events[-1].list == "hits" and any(event.item_json for event in events)


def test_a_cancelled_call_leaves_the_index_as_it_was(growing: Path, connect: Connect) -> None:
    before = generation(growing)
    with serving("grpc", growing, "--no-watch", "--max-concurrent", "1") as server:
        client = connect(server)
        events = begun(client)
        assert events.cancel()
        _wait_until_free(client)
        assert generation(growing) == before


def test_a_deadline_of_the_caller_ends_the_work(growing: Path, connect: Connect) -> None:
    before = generation(growing)
    with serving("grpc", growing, "--no-watch", "--max-concurrent", "1") as server:
        client = connect(server)
        with pytest.raises(grpc.RpcError) as caught:
            client.command(client.request("search", {"query": "step"}), timeout=0.5)
        assert caught.value.code() is STATUS.DEADLINE_EXCEEDED
        _wait_until_free(client)
        assert generation(growing) == before


def _wait_until_free(client: OverGrpc) -> None:
    """The only place of a server is given back when the work has really ended."""
    request = client.request("status", {})
    for _ in range(100):
        try:
            client.command(request)
            return
        except grpc.RpcError as error:
            assert error.code() is STATUS.RESOURCE_EXHAUSTED
            time.sleep(0.1)
    raise AssertionError("the work went on")


def test_the_servers_own_deadline_is_told(growing: Path, connect: Connect) -> None:
    with serving("grpc", growing, "--no-watch", "--timeout-seconds", "0.4") as server:
        client = connect(server)
        for call in (client.command, lambda given: list(client.stream(given))):
            request = client.request("search", {"query": "step"})
            status, envelope = refused(lambda call=call, request=request: call(request))
            assert status is STATUS.DEADLINE_EXCEEDED and envelope["error"]["code"] == "timeout"


def test_more_calls_than_there_are_places_are_told_to_come_again(growing: Path, connect: Connect) -> None:
    with serving("grpc", growing, "--no-watch", "--max-concurrent", "1") as server:
        client = connect(server)
        events = begun(client)
        status, envelope = refused(lambda: client.command(client.request("status", {})))
        assert status is STATUS.RESOURCE_EXHAUSTED and envelope["error"]["code"] == "index_busy"
        assert health_of(client) == health_pb2.HealthCheckResponse.SERVING  # it is asked when it is busy too
        events.cancel()


@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_it_at_once_with_calls_at_work(
    signal_name: str, growing: Path, connect: Connect, tmp_path: Path
) -> None:
    errors = tmp_path / "errors"
    with serving("grpc", growing, "--no-watch", errors=errors) as server:
        events = begun(connect(server))
        started = time.monotonic()
        server.process.send_signal(getattr(signal, signal_name))
        status, envelope = refused(lambda: list(events))
        assert status is STATUS.CANCELLED and envelope["error"]["code"] == "cancelled"
        assert server.process.wait(10) == 0
        assert time.monotonic() - started < AT_ONCE
    assert errors.read_text() == ""


def test_a_signal_ends_it_while_somebody_watches_its_health(shop: Path, connect: Connect) -> None:
    with serving("grpc", shop, "--no-watch") as server:
        watched = _watch(connect(server))
        assert next(watched)
        started = time.monotonic()
        server.process.terminate()
        assert server.process.wait(10) == 0 and time.monotonic() - started < AT_ONCE


def _watch(client: OverGrpc, service: str = "") -> Any:
    stub = health_pb2_grpc.HealthStub(client.channel)
    return stub.Watch(health_pb2.HealthCheckRequest(service=service), timeout=30)


@pytest.mark.parametrize("service", ["", SERVICE])
def test_it_is_serving_once_the_index_is_there(service: str, tmp_path: Path, connect: Connect) -> None:
    status = health_pb2.HealthCheckResponse
    with serving("grpc", make_tree(tmp_path / "shop", SHOP), "--no-watch") as server:
        client = connect(server)
        watched = _watch(client, service)
        assert next(watched).status == status.NOT_SERVING == health_of(client, service)
        assert client.call("index", {})[1] is None
        assert next(watched).status == status.SERVING == health_of(client, service)
        watched.cancel()


def test_an_unknown_service_has_no_health(client: OverGrpc) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        health_of(client, "no.such.Service")
    assert caught.value.code() is STATUS.NOT_FOUND


class Reflected:
    """A client that knows an address and nothing else, as grpcurl does."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self._database = ProtoReflectionDescriptorDatabase(channel)
        self._pool = descriptor_pool.DescriptorPool(self._database)

    def services(self) -> list[str]:
        return sorted(self._database.get_services())

    def call(self, service: str, method: str, **fields: Any) -> Any:
        found = self._pool.FindServiceByName(service).methods_by_name[method]
        asked = message_factory.GetMessageClass(found.input_type)
        told = message_factory.GetMessageClass(found.output_type)
        kind = self._channel.unary_stream if found.server_streaming else self._channel.unary_unary
        ask = kind(f"/{service}/{method}", asked.SerializeToString, told.FromString)
        return ask(asked(**fields), timeout=30)


def test_a_client_that_knows_only_reflection_can_call(client: OverGrpc) -> None:
    reflected = Reflected(client.channel)
    assert reflected.services() == [
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
        "satchel.v1.Satchel",
    ]
    request = '{"action": "search", "payload": {"query": "basket"}}'
    told = reflected.call("satchel.v1.Satchel", "Command", json=request)
    assert json.loads(told.json)["data"]["hits"]
    events = list(reflected.call("satchel.v1.Satchel", "Stream", json=request))
    assert events[-1].WhichOneof("kind") == "response_json"
    assert reflected.call("grpc.health.v1.Health", "Check").status


@pytest.fixture(scope="module")
def guarded(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    errors = tmp_path_factory.mktemp("guarded") / "errors"
    variables = {"SATCHEL_TOKEN": TOKEN}
    with serving("grpc", shop, "--no-watch", environment=variables, errors=errors) as started:
        yield started, errors


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer \u00e4"],
)
def test_without_its_token_nothing_is_answered(
    given: str, guarded: tuple[Server, Path], connect: Connect
) -> None:
    client = connect(guarded[0])
    metadata = (("authorization", given.encode("latin-1")),) if given else ()
    request = client.request("search", {"query": "basket"})
    for call in (client.command, lambda *given, **others: list(client.stream(*given, **others))):
        if not given.isascii():
            with pytest.raises((grpc.RpcError, ValueError)):
                call(request, metadata=metadata)
            continue
        status, envelope = refused(lambda call=call: call(request, metadata=metadata))
        assert status is STATUS.UNAUTHENTICATED and envelope["error"]["code"] == "unauthorized"


def test_with_its_token_everything_is_answered(guarded: tuple[Server, Path], connect: Connect) -> None:
    client = connect(guarded[0])
    request = client.request("search", {"query": "basket"})
    assert json.loads(client.command(request, metadata=BEARER).json)["status"] == "ok"
    assert list(client.stream(request, metadata=BEARER))[-1].list == "hits"


def test_health_needs_no_token_and_reflection_does(guarded: tuple[Server, Path], connect: Connect) -> None:
    client = connect(guarded[0])
    assert health_of(client)
    with pytest.raises(grpc.RpcError) as caught:
        Reflected(client.channel).services()
    assert caught.value.code() is STATUS.UNAUTHENTICATED


def test_a_page_of_another_origin_is_refused(client: OverGrpc) -> None:
    request = client.request("search", {"query": "basket"})
    status, envelope = refused(
        lambda: client.command(request, metadata=(("origin", "https://evil.example"),))
    )
    assert status is STATUS.PERMISSION_DENIED and envelope["error"]["code"] == "path_not_allowed"


def test_a_browser_gets_no_answer(server: Server) -> None:
    """A page can make a name lead here, but it speaks HTTP/1.1, or HTTP/2 over TLS."""
    with socket.create_connection((server.host, server.port), timeout=10) as connection:
        connection.sendall(b"POST /satchel.v1.Satchel/Command HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        assert b"HTTP/1.1 200" not in connection.recv(1000)


def test_neither_token_nor_secret_is_told_in_metadata_or_on_the_screen(
    tmp_path: Path, connect: Connect
) -> None:
    choose = random.Random(5)
    secret = "ghp_" + "".join(choose.choices(string.ascii_letters + string.digits, k=36))
    files = {**SHOP, "src/keys.py": f"basket_key = '{secret}'\n", ".env": f"KEY={secret}\n"}
    root, errors = make_tree(tmp_path / "shop", files), tmp_path / "errors"
    with serving("grpc", root, "--no-watch", environment={"SATCHEL_TOKEN": TOKEN}, errors=errors) as server:
        client = connect(server)
        heard = [_heard(client, body, BEARER) for body in _bodies(client)]
        heard += [_heard(client, _bodies(client)[0], (("authorization", f"Bearer {secret}"),))]
    said = "".join(heard) + errors.read_text()
    assert secret not in said and TOKEN not in said and "basket_key" in said


def _bodies(client: OverGrpc) -> list[Any]:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "basket_key"}),
        ("get", {"ids": ["src/keys.py", ".env"]}),
        ("no_such", {}),
    ]
    return [*(client.request(*one) for one in asked), b"\xff"]


def _heard(client: OverGrpc, body: Any, metadata: Any) -> str:
    """Everything that a caller hears: messages, metadata, status."""
    call = client.stream(body, metadata=metadata)
    try:
        messages = [str(event) for event in call]
    except grpc.RpcError:
        messages = []
    return repr((messages, call.initial_metadata(), call.trailing_metadata(), call.details()))


def test_a_port_in_use_is_an_error_that_names_it(server: Server, shop: Path) -> None:
    done = run_cli("serve", "grpc", "--segment", shop, "--port", str(server.port), "--no-watch")
    assert done.returncode == 6 and done.stdout == b""
    assert str(server.port).encode() in done.stderr and b"--port" in done.stderr


def test_an_address_that_others_reach_needs_more_than_its_name(shop: Path) -> None:
    done = run_cli("serve", "grpc", "--segment", shop, "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 6 and b"--public" in done.stderr


def test_only_this_machine_is_listened_to(server: Server) -> None:
    listening = Path(f"/proc/{server.process.pid}/net/tcp6").read_text().splitlines()
    listening += Path(f"/proc/{server.process.pid}/net/tcp").read_text().splitlines()
    port = f"{server.port:04X}"
    ours = [line.split()[1] for line in listening if line.split()[1].endswith(f":{port}") and " 0A " in line]
    assert ours and all(address.rpartition(":")[0].endswith("0100007F") for address in ours)


def test_without_json_it_says_where_it_listens(shop: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "satchel", "serve", "grpc", "-s", str(shop), "--port", "0", "--no-watch"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ)
    assert process.stderr is not None
    line = process.stderr.readline()
    process.terminate()
    assert process.wait(10) == 0 and process.stderr.read() == ""
    process.stderr.close()
    assert line.startswith("satchel: grpc://127.0.0.1:") and line.endswith(" serves shop\n")
