"""Every command gives the same data on every surface, and the same bad request the same error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, age, git, git_repo, run_cli
from surfaces import AGENTS, LOCAL, SERVED, Answer, Surface, surface
from test_contracts import REQUESTS

from satchel import answer, plugins


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def item(**payload: Any) -> dict[str, Any]:
    return {"items": [{"id": "one", "action": "search", "payload": payload}]}


REFERENCE = "python"
SURFACES = [name for name in (*LOCAL, *SERVED, *AGENTS) if name != REFERENCE]
ITEMS = [
    {"id": "found", "action": "search", "payload": {"query": "add money", "k": 1}},
    {"id": "text", "action": "get", "payload": {"ids": [{"$ref": "#/items/found/data/hits/0/id"}]}},
    {"id": "none", "action": "refs", "payload": {"name": "no_such_name"}},
]
# An evaluation reads its questions from a file, which no server does: here they come from the history.
ASKED = {**REQUESTS, "batch": {"items": ITEMS}, "eval": {"history": 5}}
BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "an empty question": ("search", {"query": " "}, "invalid_query"),
    "no question": ("search", {}, "invalid_request"),
    "a field that is none": ("search", {"query": "x", "no_such": "1"}, "invalid_request"),
    "text for a number": ("search", {"query": "x", "k": "many"}, "invalid_request"),
    "a number out of range": ("search", {"query": "x", "k": 0}, "invalid_request"),
    "a word that is no choice": ("get", {"ids": ["README.md"], "mode": "loud"}, "invalid_request"),
    "a budget that holds nothing": ("context_pack", {"query": "x", "max_chars": 1}, "invalid_budget"),
    "a budget of nothing": ("build_context_pack", {"query": "x", "budget_tokens": 0}, "invalid_budget"),
    "a tokenizer that is none": ("get", {"ids": ["README.md"], "tokenizer": "none"}, "unsupported"),
    "a format that is none": ("pack", {"query": "x", "format": "none"}, "unsupported"),
    "a ref that is none": ("pack", {"query": "x", "ref": "none"}, "ref_not_found"),
    "a name that is none": ("refs", {"name": "no_such_name"}, "symbol_not_found"),
    "a file that is none": ("symbols", {"name": "src/none.py"}, "symbol_not_found"),
    "a project that is none": ("search", {"query": "x", "project": "/no/such"}, "project_not_found"),
    "a batch of nothing": ("batch", {"items": []}, "invalid_request"),
    "a batch of too many": ("batch", {"items": item(query="x")["items"] * 2000}, "invalid_request"),
}
DEEP: dict[str, Callable[[Any], tuple[str, dict[str, Any]]]] = {
    "an item": lambda value: ("batch", item(query="x", tags=value)),
    "a default": lambda value: ("batch", item(query={"$ref": "#/items/none/data", "$default": value})),
    "a field": lambda value: ("search", {"query": "x", "tags": value}),
}
OUTSIDE = ["../../etc/passwd", "/etc/passwd:1:2", "src/../../secret.py:1:1", "_ctx/context.db"]
LOCAL_FILES = [
    ("build", {"output": "/tmp/pack.json"}),
    ("eval", {"dataset": "/etc/passwd"}),
    ("verify", {"pack": "/etc/passwd"}),
    ("get", {"ids": ["README.md"], "tokenizer": "/tmp/tokenizer.json"}),
]
_TIMES = ("created_at", "computed_at_unix_ms", "duration_ms")


CHANGES = {
    "Round the money of a basket at the till": {
        "src/money.py": "RATE = 2\n\n\ndef add_money(amounts):\n    return round(sum(amounts))\n"
    },
    "Explain how a basket is paid for": {"docs/paying.md": "# Paying\n\nA basket is paid for at the till.\n"},
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = git_repo(tmp_path_factory.mktemp("same") / "shop", SHOP)
    for message, files in CHANGES.items():
        git_repo(root, files)
        git(root, "commit", "-q", "--amend", "-m", message)
    age(root)
    assert answer({"action": "build", "payload": {"project": str(root)}})["status"] == "ok"
    return root


@pytest.fixture(scope="module")
def opened(shop: Path) -> Iterator[Callable[[str], Surface]]:
    """The surfaces, each with one server for all tests."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(surface(name, shop)))


@pytest.fixture(scope="module")
def expected(opened: Callable[[str], Surface]) -> Callable[[str], Answer]:
    return cache(lambda action: opened(REFERENCE).call(action, ASKED[action]))


def timeless(value: Any) -> Any:
    """An answer without the times that differ from call to call."""
    if isinstance(value, list):
        return [timeless(item) for item in value]
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if name not in _TIMES}
        return {name: timeless(item) for name, item in kept.items() if not name.startswith("latency")}
    return value


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("action", plugins.names("command"))
def test_a_command_gives_the_same_data(
    action: str, name: str, opened: Callable[[str], Surface], expected: Callable[[str], Answer]
) -> None:
    data, code = opened(name).call(action, ASKED[action])
    wanted, _ = expected(action)
    assert code is None and wanted
    assert timeless(data) == timeless(wanted)


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize(
    ("alias", "action", "payload"),
    [
        ("search_context", "search", {"query": "basket", "k": 2}),
        ("get_context", "get", {"chunk_id": "src/basket.py:1:3"}),
        ("references", "refs", {"symbol": "Basket"}),
    ],
)
def test_an_alias_gives_the_data_of_its_command(
    alias: str, action: str, payload: dict[str, Any], name: str, opened: Callable[[str], Surface]
) -> None:
    same = {"ids": [payload["chunk_id"]]} if action == "get" else payload
    assert opened(name).call(alias, payload) == opened(REFERENCE).call(action, same)


@pytest.mark.parametrize("name", (REFERENCE, *SURFACES))
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_request_gives_the_same_error(kind: str, name: str, opened: Callable[[str], Surface]) -> None:
    action, payload, wanted = BAD[kind]
    assert opened(name).call(action, payload) == (None, wanted)


@pytest.mark.parametrize("name", (REFERENCE, *SURFACES))
@pytest.mark.parametrize("kind", DEEP)
def test_what_is_nested_too_deep_is_an_invalid_request(
    kind: str, name: str, opened: Callable[[str], Surface]
) -> None:
    """To HTTP and gRPC it is no request. The client of the agents sends nothing that is much deeper."""
    asked = opened(name)
    for depth in (110,) if name in AGENTS else (110, 900):
        action, payload = DEEP[kind](nested(depth))
        if name in SERVED:
            body = json.dumps({"action": action, "payload": payload}).encode()
            assert asked.refusal(body) == "invalid_request"  # type: ignore[attr-defined]
        elif name != "cli" or action == "batch":  # elsewhere the command line has no objects
            assert asked.call(action, payload) == (None, "invalid_request")


@pytest.mark.parametrize("name", ["command", "python", *SERVED])
@pytest.mark.parametrize("depth", [10_000, 100_000])
def test_brackets_without_end_are_an_invalid_request(
    depth: int, name: str, opened: Callable[[str], Surface], tmp_path: Path
) -> None:
    body = b'{"action": "batch", "payload": {"items": ' + b"[" * depth + b"]" * depth + b"}}"
    if name in SERVED:
        assert opened(name).refusal(body) == "invalid_request"  # type: ignore[attr-defined]
    elif name == "python":
        told = answer(body)
        assert told["error"]["code"] == "invalid_request" and told["error"]["details"] == {"max_depth": 100}
    else:
        (tmp_path / "request.json").write_bytes(body)
        done = run_cli("command", "--file", tmp_path / "request.json")
        assert done.returncode == 2 and json.loads(done.stdout)["error"]["code"] == "invalid_request"


def test_a_request_of_python_that_holds_itself_is_an_invalid_request() -> None:
    payload: dict[str, Any] = {}
    payload["payload"] = payload
    assert answer({"action": "search", "payload": payload})["error"]["code"] == "invalid_request"


@pytest.mark.parametrize("name", [name for name in (REFERENCE, *SURFACES) if name != "cli"])
@pytest.mark.parametrize("action", ["no_such", "../search", "command", ""])
def test_an_action_that_is_none_is_unsupported(
    action: str, name: str, opened: Callable[[str], Surface]
) -> None:
    """On the command line it is a word that is none, beside words that are no actions."""
    assert opened(name).call(action, {}) == (None, "unsupported")


@pytest.mark.parametrize("name", (REFERENCE, *SURFACES))
def test_nothing_outside_the_root_is_read(name: str, opened: Callable[[str], Surface]) -> None:
    assert opened(name).call("get", {"ids": OUTSIDE}) == (None, "chunk_not_found")
    data, _ = opened(name).call("get", {"ids": ["README.md:1:1", *OUTSIDE]})
    assert [chunk["path"] for chunk in data["chunks"]] == ["README.md"]
    assert [item["asked"] for item in data["missing"]] == OUTSIDE


@pytest.mark.parametrize("name", (*SERVED, *AGENTS))
@pytest.mark.parametrize(("action", "payload"), LOCAL_FILES)
def test_a_server_takes_no_file_of_its_machine(
    action: str, payload: dict[str, Any], name: str, opened: Callable[[str], Surface]
) -> None:
    assert opened(name).call(action, payload) == (None, "path_not_allowed")


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("body", ["", "{", "[]", '{"payload": {}}', '{"action": "search", "more": 1}', "nul"])
def test_what_is_no_request_is_refused(body: str, name: str, opened: Callable[[str], Surface]) -> None:
    served: Any = opened(name)
    assert served.refusal(body.encode()) == "invalid_request"
