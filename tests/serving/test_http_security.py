"""What an HTTP server refuses, and that it goes on serving; that nothing secret leaves by it."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, make_tree, run_cli
from http_server import JSON, Server, read_all, serving

from satchel import plugins

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))
from test_pack_secrets import PLANTED, QUESTIONS, leaks, planted

TOKEN = "a-token-of-some-length"
PAGE = "https://pages.example"
HEAD = b"POST /v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
NESTED = b'{"query":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
LIMITS = ("--max-body-bytes", "100000", "--timeout-seconds", "4", "--max-concurrent", "3")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("security")
    (folder / "outside.md").write_text("# Outside\n\nunicorn\n")
    return make_tree(folder / "shop", SHOP)


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    with serving(root, "--workers", "1") as server:
        yield server


@pytest.fixture(scope="module")
def guarded(root: Path) -> Iterator[Server]:
    """With a token, a page that may call, and narrow limits."""
    flags = ("--allow-origin", PAGE, "--allow-host", "shop.example", *LIMITS)
    with serving(root, "--workers", "1", *flags, environment={"SATCHEL_TOKEN": TOKEN}) as server:
        server.call("/v1/index", {}, headers=bearer())
        yield server


def bearer(token: str = TOKEN) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def envelope(raw: bytes) -> Any:
    return json.loads(raw.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "0.0.0.0",
        "[::2]",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/v1/search", "/health", "/metrics", "/nothing"])
def test_a_name_that_is_not_ours_is_misdirected(server: Server, host: str, path: str) -> None:
    answer = server.call(path, {"query": "basket"}, headers={"host": host})
    assert (answer.status, answer.code) == (421, "path_not_allowed") and b"basket" not in answer.body


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8640", "[::1]:8640", "LOCALHOST"])
def test_a_local_name_is_ours(server: Server, host: str) -> None:
    assert server.call("/health", headers={"host": host}).status == 200


@pytest.mark.parametrize(
    "origin",
    [PAGE, "null", "http://localhost.evil.example", "file://", "http://[", "https://127.0.0.1@evil.example"],
)
def test_a_page_of_another_origin_is_refused(server: Server, origin: str) -> None:
    answer = server.call("/v1/search", {"query": "basket"}, headers={"origin": origin})
    assert (answer.status, answer.code) == (403, "path_not_allowed") and not cors(answer.headers)


def test_a_page_of_the_name_that_was_asked_is_no_other_origin(guarded: Server) -> None:
    """As behind a proxy that speaks https; the name must be one that the server answers to."""
    for host, origin, status in (
        ("shop.example", "https://shop.example", 200),
        ("shop.example", "https://other.example", 403),
        ("shop.example:8443", "https://shop.example", 403),
        ("evil.example", "https://evil.example", 421),
    ):
        headers = {"host": host, "origin": origin, **bearer()}
        assert guarded.call("/v1/search", {"query": "basket"}, headers=headers).status == status


def test_no_answer_lets_a_page_read_it(server: Server) -> None:
    for origin in ("http://localhost:3000", "http://127.0.0.1"):
        assert not cors(server.call("/v1/search", {"query": "basket"}, headers={"origin": origin}).headers)
    assert not cors(server.call("/health").headers)


def cors(headers: dict[str, str]) -> list[str]:
    return [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize("origin", [PAGE, "http://localhost:3000", "null"])
def test_a_preflight_of_an_origin_that_is_not_listed_is_refused(server: Server, origin: str) -> None:
    asked = {"origin": origin, "access-control-request-method": "POST"}
    answer = server.call("/v1/search", method="OPTIONS", headers=asked)
    assert answer.status == 403 and answer.code == "path_not_allowed" and not cors(answer.headers)


def test_a_listed_page_may_ask_and_call(guarded: Server) -> None:
    asked = {
        "origin": PAGE,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
    }
    preflight = guarded.call("/v1/search", method="OPTIONS", headers=asked)
    assert preflight.status == 204 and preflight.headers["access-control-allow-origin"] == PAGE
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    called = guarded.call("/v1/search", {"query": "basket"}, headers={"origin": PAGE, **bearer()})
    assert called.status == 200 and called.headers["access-control-allow-origin"] == PAGE
    assert "access-control-allow-credentials" not in called.headers


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer x",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        TOKEN,
        "Bearer ünicorn",
    ],
)
def test_without_the_token_nothing_is_told(guarded: Server, given: str | None) -> None:
    headers = {} if given is None else {"authorization": given}
    for path in ("/v1/command", "/v1/search", "/metrics", "/ready", "/openapi.json", "/", "/nothing"):
        answer = guarded.call(path, {"query": "basket"}, headers=headers)
        assert (answer.status, answer.code) == (401, "unauthorized")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert guarded.call("/health", headers=headers).status == 200


def test_with_the_token_it_answers_to_the_names_it_was_given(guarded: Server) -> None:
    headers = {"host": "shop.example", **bearer()}
    assert guarded.call("/v1/search", {"query": "basket"}, headers=headers).json["status"] == "ok"


def test_another_address_needs_public_and_a_token(root: Path) -> None:
    for flags in ((), ("--public",), ("--public", "--token", "short")):
        done = run_cli("serve", "http", "--segment", root, "--host", "0.0.0.0", "--port", "0", *flags)
        assert done.returncode == 6


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b'{"query": NaN}',
        b'{"query": Infinity}',
        b'{"query": -Infinity}',
        b"\xff\xfe{}",
        b'{"query": "\xff"}',
        b'{"query": "a"} {"query": "b"}',
        b"\x00",
        NESTED,
        b"query=basket",
    ],
)
@pytest.mark.parametrize("path", ["/v1/search", "/v1/command"])
def test_what_is_not_a_request_is_refused_with_400(server: Server, path: str, body: bytes) -> None:
    answer = server.call(path, body)
    assert (answer.status, answer.code) == (400, "invalid_request")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"action": 1},
        {"action": "search", "payload": []},
        {"action": "search", "more": 1},
        {"action": "search", "options": {"x": 1}},
    ],
)
def test_an_envelope_with_other_fields_is_no_request(server: Server, body: Any) -> None:
    assert server.call("/v1/command", body).status == 400


@pytest.mark.parametrize(
    "body", [b'{"query": "\\ud800"}', b'{"query": "a\\u0000b"}', b'{"query": "\\udfff x", "k": 3}']
)
def test_text_that_cannot_be_written_down_does_no_harm(server: Server, body: bytes) -> None:
    assert server.call("/v1/search", body).status in (200, 400)


def test_of_two_equal_keys_the_last_one_counts(server: Server) -> None:
    answer = server.call("/v1/search", b'{"query": "till", "query": "basket"}')
    assert answer.json["data"]["query"] == "basket"


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_body_that_does_not_say_it_is_json_is_refused(server: Server, kind: str) -> None:
    answer = server.call("/v1/search", {"query": "basket"}, headers={"content-type": kind})
    assert (answer.status, answer.code) == (415, "invalid_request")


@pytest.mark.parametrize(
    "raw",
    [
        b"GARBAGE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\nhost: evil\r\n\r\n",
        HEAD + b"content-length: -1\r\n\r\n",
        HEAD + b"content-length: 1\r\ncontent-length: 2\r\n\r\n{}",
        HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        HEAD + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_and_the_server_goes_on(server: Server, raw: bytes) -> None:
    answer = server.send(raw)
    assert answer.startswith(b"HTTP/1.1 400") and b" 200 OK" not in answer
    assert envelope(answer)["error"]["code"] == "invalid_request"
    assert server.call("/health").status == 200


def test_a_long_head_is_refused(server: Server) -> None:
    answer = server.call("/health", headers={"x": "x" * 60_000})
    assert (answer.status, answer.code) == (431, "too_large")
    endless = b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: " + b"x" * 2_000_000
    with suppress(ConnectionError):  # it is closed while we send
        server.send(endless)
    assert server.call("/health").status == 200


def test_http_1_0_is_answered_if_it_names_the_host(server: Server) -> None:
    named = b"GET /health HTTP/1.0\r\nhost: localhost\r\n\r\n"
    assert server.send(named).startswith(b"HTTP/1.1 200 OK")
    assert server.send(b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")


def test_a_web_socket_is_not_opened(server: Server) -> None:
    raw = b"GET /v1/search HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-key: eA==\r\nsec-websocket-version: 13\r\n\r\n"
    assert server.send(raw).startswith(b"HTTP/1.1 405")


def test_a_body_over_the_limit_is_refused_before_it_is_read(guarded: Server) -> None:
    raw = HEAD + f"authorization: Bearer {TOKEN}\r\ncontent-length: 99999999999\r\n\r\n".encode()
    answer = guarded.send(raw)
    assert answer.startswith(b"HTTP/1.1 413") and envelope(answer)["error"]["code"] == "too_large"
    large = guarded.call("/v1/search", b" " * 3_000_000, headers=bearer())
    assert (large.status, large.json["error"]["details"]) == (413, {"max_bytes": 100_000})


def test_a_body_that_grows_over_the_limit_is_refused(guarded: Server) -> None:
    head = HEAD + f"authorization: Bearer {TOKEN}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    answer = guarded.send(head + (b"8000\r\n" + b" " * 0x8000 + b"\r\n") * 5)
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_within_the_limit_is_read_to_its_last_byte(guarded: Server) -> None:
    body = b'{"query": "basket"}'
    padded = body + b" " * (100_000 - len(body))
    assert guarded.call("/v1/search", padded, headers=bearer()).json["status"] == "ok"
    assert guarded.call("/v1/search", padded + b" ", headers=bearer()).status == 413


def test_a_body_that_comes_too_slowly_is_refused(guarded: Server) -> None:
    started = time.monotonic()
    with guarded.connect() as connection:
        connection.sendall(HEAD + f"authorization: Bearer {TOKEN}\r\ncontent-length: 100\r\n\r\n{{".encode())
        answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 408") and envelope(answer)["error"]["code"] == "timeout"
    assert time.monotonic() - started < 10


def test_a_body_that_breaks_off_does_no_harm(guarded: Server) -> None:
    for _ in range(10):
        with guarded.connect() as connection:
            connection.sendall(
                HEAD + f"authorization: Bearer {TOKEN}\r\ncontent-length: 100\r\n\r\n{{".encode()
            )
    assert answered(guarded) == 200


def answered(server: Server) -> int:
    """The status of a question once all places are free again, which a busy machine takes a while for."""
    for _ in range(50):
        time.sleep(0.2)
        status = server.call("/v1/search", {"query": "basket"}, headers=bearer()).status
        if status != 429:
            break
    return status


def test_more_requests_than_there_are_places_are_told_to_come_again(guarded: Server) -> None:
    slow = HEAD + f"authorization: Bearer {TOKEN}\r\ncontent-length: 100\r\n\r\n".encode()
    waiting = [guarded.connect() for _ in range(3)]
    for connection in waiting:
        connection.sendall(slow)
    time.sleep(0.3)
    answer = guarded.call("/v1/search", {"query": "basket"}, headers=bearer())
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (429, "index_busy", "1")
    assert guarded.call("/health").status == 200
    for connection in waiting:
        connection.close()
    assert answered(guarded) == 200


def test_a_request_waits_a_moment_for_a_place(guarded: Server) -> None:
    slow = HEAD + f"authorization: Bearer {TOKEN}\r\ncontent-length: 100\r\n\r\n".encode()
    holding = [guarded.connect() for _ in range(3)]
    for connection in holding:
        connection.sendall(slow)
    time.sleep(0.3)
    freed = threading.Timer(0.3, holding[0].close)
    freed.start()
    started = time.monotonic()
    assert guarded.call("/v1/search", {"query": "basket"}, headers=bearer()).status == 200
    assert time.monotonic() - started > 0.2
    for connection in holding:
        connection.close()


def test_of_many_that_wait_for_a_place_the_last_are_sent_away_at_once(guarded: Server) -> None:
    slow = HEAD + f"authorization: Bearer {TOKEN}\r\ncontent-length: 100\r\n\r\n".encode()
    opened = [guarded.connect() for _ in range(6)]  # three that have the places, three that wait
    for connection in opened:
        connection.sendall(slow)
    time.sleep(0.3)
    started = time.monotonic()
    assert guarded.call("/v1/search", {"query": "basket"}, headers=bearer()).status == 429
    assert time.monotonic() - started < 1
    for connection in opened:
        connection.close()


def test_a_call_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    files = {f"src/part_{number}.py": f"def part_{number}():\n    return 1\n" * 200 for number in range(1500)}
    root = make_tree(tmp_path / "many", files)
    alone = {"SATCHEL_WORKERS": "1"}
    with serving(root, "--workers", "1", "--timeout-seconds", "0.3", environment=alone) as server:
        answer = server.call("/v1/index", {})
        assert (answer.status, answer.code) == (408, "timeout")
        streamed = server.call("/v1/index", {}, headers={"accept": "application/x-ndjson"})
        assert json.loads(streamed.body.splitlines()[-1])["response"]["error"]["code"] == "timeout"
        assert server.call("/ready").status == 503


def test_a_head_that_never_ends_does_not_hold_a_connection(server: Server) -> None:
    with server.connect() as silent, server.connect() as slow:
        started = time.monotonic()
        slow.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\n")
        for number in range(3):
            time.sleep(1)
            slow.sendall(f"x-{number}: 1\r\n".encode())
        assert server.call("/health").status == 200
        assert read_all(slow) == b"" and read_all(silent) == b""
        assert time.monotonic() - started < 15


def test_many_slow_clients_do_not_keep_others_out(server: Server) -> None:
    waiting = [server.connect() for _ in range(200)]
    for connection in waiting:
        connection.sendall(b"POST /v1/search HTTP/1.1\r\nhost: local")
    assert server.call("/v1/search", {"query": "basket"}).json["status"] == "ok"
    for connection in waiting:
        connection.close()


OUTSIDE = [
    "../outside.md:1:3",
    "../outside:0000000000",
    "../../../../etc/passwd:1:1",
    "/etc/passwd:1:1",
    "src/../../outside.md:1:3",
    "src\\..\\..\\outside.md:1:3",
    "file:///etc/passwd",
    "~/.ssh/id_rsa:1:1",
    ".git/config:1:1",
    "linked.md:1:3",
    "linked/outside.md:1:3",
    "\u0000/etc/passwd:1:1",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_id_leads_out_of_the_root(server: Server, root: Path, name: str) -> None:
    for link, target in (("linked.md", "../outside.md"), ("linked", "..")):
        if not (root / link).is_symlink():
            (root / link).symlink_to(target)
    for answer in (
        server.call("/v1/get", {"ids": [name]}),
        server.call("/v1/symbols", {"name": name}),
        server.call("/v1/refs", {"name": name}),
        server.call("/v1/search", {"query": "unicorn", "path_prefix": name}),
        server.call("/v1/status", {"project": name}),
    ):
        assert answer.status == 200
        assert (
            b"unicorn\\n" not in answer.body
            and b"root:" not in answer.body
            and b"# Outside" not in answer.body
        )


def test_a_link_that_takes_the_place_of_a_file_is_not_followed(server: Server, root: Path) -> None:
    page = root / "docs" / "swapped.md"
    page.write_text("# Swapped\n\nhorse\n")
    found = server.call("/v1/search", {"query": "swapped horse"}).json["data"]["hits"][0]
    page.unlink()
    page.symlink_to("../../outside.md")
    for policy in ("auto", "warn"):
        for name in (found["id"], "docs/swapped.md:1:3"):
            answer = server.command("get", {"ids": [name]}, options={"stale_policy": policy})
            assert b"unicorn" not in answer.body and b"Outside" not in answer.body
    page.unlink()


@pytest.mark.parametrize(
    ("action", "payload"),
    [
        ("build", {"output": "/tmp/satchel-pack.json"}),
        ("eval", {"dataset": "/etc/passwd"}),
        ("index", {"scip": ["/etc/passwd"]}),
        ("pack", {"query": "basket", "tokenizer": "/etc/passwd"}),
        ("verify", {"pack": "/etc/passwd"}),
    ],
)
def test_a_caller_names_no_file_of_the_machine(server: Server, action: str, payload: dict[str, Any]) -> None:
    assert server.call(f"/v1/{action}", payload).code == "path_not_allowed"
    inside = {"items": [{"id": "a", "action": action, "payload": payload}]}
    answer = server.call("/v1/batch", inside).json["data"]["items"][0]
    assert answer["error"]["code"] == "path_not_allowed" and not os.path.exists("/tmp/satchel-pack.json")


FILES = planted()


@pytest.fixture(scope="module")
def secretive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = make_tree(tmp_path_factory.mktemp("secrets") / "shop", FILES)
    with serving(root) as server:
        yield server


def test_no_planted_secret_leaves_by_any_route_error_log_or_metric(secretive: Server) -> None:
    heard = [secretive.call(path).body for path in ("/", "/ready", "/metrics", "/openapi.json")]
    hidden = [".env:1:9", "id_rsa:1:9", "src/keys.py:1:20", "deploy.yaml:1:12"]
    for name in plugins.names("command"):
        fields = plugins.load("command", name).request.__struct_fields__
        for question in QUESTIONS if "query" in fields else ("basket_key_aws",):
            given = {"query": question, "name": question, "ids": hidden}
            payload = {field: value for field, value in given.items() if field in fields}
            heard.append(secretive.call(f"/v1/{name}", payload).body)
            heard.append(secretive.call(f"/v1/{name}", {**payload, "no_such_field": question}).body)
    for value in PLANTED.values():
        asked = secretive.command("search", {"query": value[:12]})
        heard.append(json.dumps(asked.json["data"]).encode())
    heard.append(secretive.call("/metrics").body)
    everything = "\n".join(body.decode() for body in heard)
    assert leaks(everything) == [] and str(FILES["id_rsa"])[20:60] not in everything
    code, said = secretive.end(signal.SIGTERM)
    assert code == 0 and said == ""


def test_a_question_with_a_secret_in_it_is_not_kept_or_told(root: Path) -> None:
    with serving(root) as server:
        for value in PLANTED.values():
            server.call("/v1/search", {"query": value})
            server.call(f"/v1/{value}", {"query": value})
            server.call("/v1/search", b'{"query": "' + value.encode())
            server.call("/v1/command", {"action": value})
        assert leaks(server.call("/metrics").body.decode()) == []
        assert server.end(signal.SIGTERM) == (0, "")
    kept = b"".join(path.read_bytes() for path in (root / "_ctx").rglob("*") if path.is_file())
    assert leaks(kept.decode("latin-1")) == []


def test_a_thousand_broken_requests_and_it_still_answers(server: Server) -> None:
    import random

    choose = random.Random(5)

    def break_off(count: int) -> None:
        for _ in range(count):
            good = HEAD + b'content-length: 19\r\n\r\n{"query": "basket"}'
            broken = bytearray(good[: choose.randrange(1, len(good))])
            for _ in range(choose.randrange(1, 4)):
                broken[choose.randrange(len(broken))] = choose.randrange(256)
            with server.connect() as connection:
                connection.sendall(bytes(broken))

    threads = [threading.Thread(target=break_off, args=(250,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.call("/v1/search", {"query": "basket"}, headers=JSON).json["status"] == "ok"
