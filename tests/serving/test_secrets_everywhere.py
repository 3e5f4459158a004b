"""Secrets planted in a repository leave by no surface: not in an answer, an error, a resource, a prompt."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from builders import make_tree
from mcp_clients import agent, spawned
from surfaces import AGENTS, LOCAL, SERVED, Surface, surface

from satchel import plugins

sys.path.append(str(Path(__file__).parent.parent / "faults"))
from test_pack_secrets import PLANTED, QUESTIONS, leaks, planted

HIDDEN = [".env:1:9", "id_rsa:1:9", "src/keys.py:1:20", "deploy.yaml:1:12", "../../etc/passwd:1:3"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tree(tmp_path_factory.mktemp("secrets") / "shop", planted())


@pytest.fixture(scope="module")
def opened(root: Path) -> Iterator[Callable[[str], Surface]]:
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(surface(name, root)))


def payload_of(name: str, question: str) -> dict[str, Any]:
    fields = plugins.load("command", name).request.__struct_fields__
    given = {"query": question, "name": question, "ids": HIDDEN, "skipped": True}
    return {field: value for field, value in given.items() if field in fields}


@pytest.mark.parametrize("name", [*LOCAL, *SERVED, *AGENTS])
def test_no_planted_secret_is_in_an_answer_or_error(name: str, opened: Callable[[str], Surface]) -> None:
    asked = opened(name)
    heard = [
        asked.call(command, payload_of(command, QUESTIONS[0]))
        for command in ("get", "search", "map", "status")
    ]
    heard += [asked.call("context_pack", payload_of("context_pack", question)) for question in QUESTIONS[:3]]
    heard.append(asked.call("symbols", {"name": next(iter(PLANTED.values()))[:12]}))
    assert leaks(repr(heard)) == []


def test_no_planted_secret_is_in_what_an_agent_reads(root: Path) -> None:
    with agent(spawned(root)) as one:
        heard = [
            one.tool(tool, **payload_of(command, question)).text
            for tool, command in (
                ("get", "get"),
                ("search", "search"),
                ("build_context_pack", "build_context_pack"),
            )
            for question in QUESTIONS[:2]
        ]
        heard.append(str(one.run(lambda: one.client.get_prompt("repository_digest"))))
        heard.append(str(one.run(lambda: one.client.read_resource("satchel://file/src/keys.py"))))
        heard.append(str(one.run(lambda: one.client.list_tools())))
    assert leaks("\n".join(heard)) == [] and "redacted" in "\n".join(heard)
