"""The budget that an error names works when it is used: in every format, tokenizer and unit, on every command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import SHOP, age, git_repo, make_engine, make_tree, run_cli, session_of
from random_repositories import make_repository

from satchel import plugins, tokenizers
from satchel.commands.command import Command
from satchel.commands.session import Session
from satchel.engine import Engine
from satchel.errors import InvalidBudget
from satchel.visible_json import compact

FORMATS = ("terminal", "context", "json", "sections", "markdown", "xml")
QUESTIONS = (
    "basket total price",
    "`NoSuchThing` \u202e and nowhere/at/all.rs",
    "why " + "does it fail " * 230,
)
UNITS = {"budget_tokens": "min_tokens", "max_chars": "min_chars"}


@pytest.fixture(scope="module", params=["shop", "random"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    files = SHOP if request.param == "shop" else make_repository(21)
    with make_engine(age(git_repo(tmp_path_factory.mktemp(request.param), files))) as engine:
        engine.refresh()
        yield engine


def named_minimum(ask: Callable[..., Any], **given: int) -> dict[str, int]:
    """The budget that the error of one too small names, after it was used."""
    with pytest.raises(InvalidBudget) as caught:
        ask(**given)
    least = {unit: caught.value.details[name] for unit, name in UNITS.items() if name in caught.value.details}
    assert least and all(value > given[unit] for unit, value in least.items())
    ask(**{**given, **least})
    return least


def recounted(data: Any, tokenizer: str) -> None:
    """What an answer of a pack command states of its size is what a recount gives."""
    told = msgspec.to_builtins(data)
    text = told["document"] if "document" in told else compact(data)
    stated = {**told.get("metadata", {}), **told.get("budget", {}), **told}
    count = tokenizers.get(tokenizer).count(text)
    tokens = stated.get("used_tokens", stated.get("token_budget_used")) or count
    assert (tokens, stated.get("used_chars", len(text))) == (count, len(text))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("tokenizer", ["o200k", "cl100k", "claude", "chars4"])
@pytest.mark.parametrize("form", [*FORMATS, "context_pack", "build_context_pack"])
def test_the_minimum_that_a_pack_names_works(engine: Engine, form: str, tokenizer: str, unit: str) -> None:
    action, format = ("pack", {"format": form}) if form in FORMATS else (form, {})
    command: Command = plugins.load("command", action)
    for query in QUESTIONS:
        fields = {"query": query, "tokenizer": tokenizer, **format}
        if form == "build_context_pack":
            fields["budget_tokens"] = 0  # its default would be a second limit

        def ask(fields: dict[str, Any] = fields, **budget: int) -> Any:
            answer = command.run(session_of(engine), msgspec.convert({**fields, **budget}, command.request))
            recounted(answer, tokenizer)
            return answer

        least = named_minimum(ask, **{unit: 5})
        ask(**{unit: least[unit] * 2 + 7})


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("change", ["staged", "diff"])
def test_the_minimum_that_a_review_names_works(tmp_path: Path, form: str, change: str) -> None:
    root = git_repo(tmp_path, SHOP)
    make_tree(root, {"src/money.py": "RATE = 3\n"})
    command: Command = plugins.load("command", "pack")
    with make_engine(root) as engine:
        engine.refresh()
        for unit in UNITS:
            fields = {"format": form, **({"staged": True} if change == "staged" else {"diff": "HEAD"})}
            named_minimum(
                lambda fields=fields, **budget: recounted(
                    command.run(session_of(engine), msgspec.convert({**fields, **budget}, command.request)),
                    "o200k",
                ),
                **{unit: 5},
            )


def retried(session: Session, action: str, payload: Mapping[str, Any]) -> Any:
    """The answer to the call that an error proposes."""
    with pytest.raises(InvalidBudget) as caught:
        session.call(action, dict(payload))
    (following,) = caught.value.next_actions
    return session.call(following["tool"], following["args"])


@pytest.mark.parametrize(
    ("action", "payload"),
    [
        ("prompt", {"budget_tokens": 1}),
        ("prompt", {"budget_tokens": 1, "scope": "all", "tokenizer": "claude"}),
        ("map", {"budget_tokens": 0}),
        ("get", {"ids": ["README.md"], "budget": 0}),
        ("pack", {"query": "basket", "max_chars": 1, "budget_tokens": 1}),
        ("context_pack", {"query": "basket", "max_chars": 1, "budget_tokens": 1}),
        ("build_context_pack", {"query": "basket", "max_chars": 1, "budget_tokens": 1}),
    ],
)
def test_the_call_that_is_proposed_works(tmp_path: Path, action: str, payload: dict[str, Any]) -> None:
    with make_engine(make_tree(tmp_path, SHOP)) as engine:
        assert retried(session_of(engine), action, payload) is not None


def test_the_least_budget_that_get_names_shows_something(tmp_path: Path) -> None:
    with make_engine(make_tree(tmp_path, SHOP)) as engine:
        session = session_of(engine)
        for tokenizer in ("o200k", "claude", "chars4"):
            asked = {"ids": ["README.md", "src/till.go"], "tokenizer": tokenizer}
            least = session.call("get", {**asked, "budget": 1}).min_tokens
            assert session.call("get", {**asked, "budget": least}).chunks
            assert not session.call("get", {**asked, "budget": least - 1}).chunks


@pytest.mark.parametrize("max_chars", [1, 700, 1_500, 3_000])
def test_the_batch_that_is_proposed_holds_every_item(tmp_path: Path, max_chars: int) -> None:
    items = [
        {"id": "a", "action": "context_pack", "payload": {"query": "basket \u202e total"}},
        {"id": "b", "action": "search", "payload": {"query": "money"}},
        {"id": "c", "action": "pack", "payload": {"query": "till", "format": "json"}},
        {"id": "d", "action": "build_context_pack", "payload": {"query": "setup"}},
    ]
    with make_engine(make_tree(tmp_path, SHOP)) as engine:
        session = session_of(engine)
        payload = {"items": items, "max_chars": max_chars}
        for _ in range(3):
            try:
                answer = session.call("batch", payload)
            except InvalidBudget as error:
                payload["max_chars"] = error.details["min_chars"]
                continue
            assert answer.budget.used_chars == len(compact(answer)) <= payload["max_chars"]
            if not answer.budget.truncated:
                break
            payload["max_chars"] = max(
                item.error["details"]["min_chars"] for item in answer.items if item.error
            )
        assert [item.status for item in answer.items] == ["ok"] * len(items)


def test_the_command_line_names_what_it_takes(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    words = ("pack", "why does it fail " * 150, "-s", root, "--format", "json", "--json")
    error = json.loads(run_cli(*words, "--max-chars", "5").stdout)["error"]
    least = str(error["details"]["min_chars"])
    done = run_cli(*words, "--max-chars", least)
    assert done.returncode == 0 and len(done.stdout.decode()) <= int(least)
    assert json.loads(done.stdout)["budget"]["used_chars"] == len(done.stdout.decode())
