"""Several served folders: a call says which one it means, and is told which there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import make_tree
from http_server import serving
from mcp_clients import Agent, agent, agent_over_http, spawned
from surfaces import OverGrpc
from surfaces import serving as serving_any

from satchel import ids
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Request

QUERY = {"query": "unicorn horn"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp("several")
    one = make_tree(base / "one", {"a.md": "# Mule\n\nears\n"})
    return one, make_tree(base / "two", {"a.md": "# Unicorn\n\nhorn\n"})


def check(error: dict[str, Any]) -> None:
    assert error["code"] == "invalid_request" and "2 folders are served" in error["message"]
    assert error["details"] == {"projects": ["one", "two"]} and error["hint"] == "give project: one, two"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_over_http(folders: tuple[Path, Path], workers: str) -> None:
    one, two = folders
    with serving(one, "--segment", str(two), "--workers", workers) as server:
        for payload in (QUERY, {**QUERY, "project": "."}):
            check(server.command("search", payload).json["error"])
        check(server.call("/v1/search", QUERY).json["error"])
        batch = {"items": [{"id": "one", "action": "search", "payload": QUERY}]}
        check(server.command("batch", batch).json["error"])
        assert server.command("search", {**QUERY, "project": "two"}).json["data"]["hits"]
        inner = {"items": [{"id": "one", "action": "search", "payload": {**QUERY, "project": "two"}}]}
        assert server.command("batch", inner).json["data"]["items"][0]["data"]["hits"]


def test_over_grpc(folders: tuple[Path, Path]) -> None:
    one, two = folders
    with serving_any("grpc", one, "--segment", str(two), "--no-watch", "--workers", "1") as server:
        asked = OverGrpc(server)
        assert asked.call("search", QUERY) == (None, "invalid_request")
        assert asked.call("search", {**QUERY, "project": "two"})[0]["hits"]
        asked.close()


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_over_mcp(folders: tuple[Path, Path], way: str) -> None:
    one, two = folders
    opened = agent_over_http(one, "--segment", str(two)) if way == "http" else agent(spawned(one, two))
    with opened as found:
        told = found.tool("search", **QUERY)
        assert told.is_error and told.code == "invalid_request"
        assert found.tool("search", **QUERY, project="two", response_mode="full").data["hits"]
        _check_lists(found)


def _check_lists(found: Agent) -> None:
    for tool in found.run(found.client.list_tools).tools:
        assert "project" in tool.input_schema["required"]
        assert tool.input_schema["properties"]["project"]["enum"] == ["one", "two"]
    prompt = found.run(found.client.list_prompts).prompts[0]
    assert [each.name for each in prompt.arguments or () if each.required] == ["project"]
    digest = found.run(lambda: found.client.get_prompt(prompt.name, {"project": "two"}))
    assert "Unicorn" in digest.messages[0].content.text
    assert found.refusal(lambda: found.client.get_prompt(prompt.name, {})) == -32602
    assert found.refusal(lambda: found.client.read_resource("satchel://digest")) == -32602


def test_one_served_folder_needs_no_name(folders: tuple[Path, Path]) -> None:
    dispatcher = Dispatcher([folders[1], folders[1]])
    for payload in (QUERY, {**QUERY, "project": "."}):
        assert dispatcher.answer(Request("search", payload)).status == "ok"
    dispatcher.close()


def test_folders_of_one_name_are_told_apart_by_their_fingerprints(tmp_path: Path) -> None:
    roots = [make_tree(tmp_path / place / "shop", {"a.md": f"# {place}\n\nhorn\n"}) for place in ("x", "y")]
    dispatcher = Dispatcher(roots)
    known = [ids.root_fingerprint(root.resolve()) for root in roots]
    assert dispatcher.projects() == known
    told = dispatcher.answer(Request("search", {**QUERY, "project": "shop"}))
    assert told.error and told.error["code"] == "invalid_request" and known[1] in told.error["hint"]
    found = dispatcher.answer(Request("search", {"query": "horn", "project": known[1]}))
    assert found.data.hits[0].name == "y"
    dispatcher.close()
