"""Packs of random repositories keep every promise: size, citations, counts, filters, no secrets.

SATCHEL_PACK_CASES=10000 asks more questions than the usual run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest
from builders import age, make_tree, memory_engine, session_of
from pack_cases import Answer, Case, ask, draw, flat_request, sectioned_request
from pack_checks import check_counts, check_document, check_items, check_size, check_wishes
from random_repositories import make_repository
from schema_checks import check_schema

from satchel import tokenizers
from satchel.commands import build_context_pack, context_pack, pack
from satchel.engine import Engine
from satchel.errors import InvalidBudget

REPOSITORIES = 30
CASES = int(os.environ.get("SATCHEL_PACK_CASES", "1200"))


def fitting(engine: Engine, case: Case) -> tuple[Case, Answer]:
    """The answer; when the budget is too small, that with the least budget that the error names."""
    try:
        return case, ask(engine, case)
    except InvalidBudget as error:
        least = case.with_budget(error.details)
        assert least.tokens >= case.tokens and least.chars >= case.chars and least != case
        if not (case.tokens and case.chars):
            with pytest.raises(InvalidBudget):
                ask(engine, least._replace(tokens=max(0, least.tokens - 1), chars=max(0, least.chars - 1)))
        return least, ask(engine, least)


def check(engine: Engine, root: Path, case: Case) -> None:
    case, answer = fitting(engine, case)
    check_size(case, answer)
    check_items(engine, root, answer)
    check_counts(answer)
    check_wishes(engine, case, answer)
    check_document(case, answer)


@pytest.mark.parametrize("seed", range(REPOSITORIES))
def test_a_pack_keeps_every_promise(seed: int, tmp_path: Path) -> None:
    root = age(make_tree(tmp_path, make_repository(seed)))
    with memory_engine(root) as engine:
        for number in range(-(-CASES // REPOSITORIES)):
            case = draw(seed, number)
            try:
                check(engine, root, case)
            except Exception as error:
                error.add_note(f"repository {seed}, case {number}: {case}")
                raise


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Of a repository with a bit of everything."""
    files = make_repository(0) | make_repository(4) | make_repository(21)
    return memory_engine(age(make_tree(tmp_path_factory.mktemp("packs"), files)))


def enough(number: int, action: str, tokens: int = 2500) -> Case:
    """A case with room for something."""
    case = draw(99, number)._replace(action=action, tokens=tokens, chars=0 if tokens else 9000, filters={})
    flat = action in ("context_pack", "json")
    return next(
        case._replace(options=other.options)
        for other in (draw(98, further) for further in range(200))
        if ("limit" in other.options) == flat
    )


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("format", ["context", "markdown", "xml", "terminal", "sections"])
def test_pack_writes_just_the_document_that_was_counted(engine: Engine, format: str, number: int) -> None:
    case = enough(number, format)
    names = ("mode", "section_caps", "max_candidates")
    asked = pack.PackCommandRequest(
        query=case.query,
        format=format,
        tokenizer=case.tokenizer,
        budget_tokens=case.tokens,
        **{name: case.options[name] for name in names},
    )
    answer = pack.run(session_of(engine), asked)
    assert answer.document == ask(engine, case).document and answer.format == format
    assert tokenizers.get(case.tokenizer).count(answer.document) <= answer.used_tokens <= case.tokens


@pytest.mark.parametrize("number", range(20))
def test_context_pack_states_the_length_of_its_compact_json(engine: Engine, number: int) -> None:
    response = context_pack.run(session_of(engine), flat_request(enough(number, "context_pack", tokens=0)))
    text = msgspec.json.encode(response).decode()
    compact = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    assert response.budget.used_chars == len(text) == len(compact) <= 9000
    check_schema(json.loads(text), "context_pack.response")


@pytest.mark.parametrize("number", range(20))
def test_build_context_pack_states_the_tokens_of_its_compact_json(engine: Engine, number: int) -> None:
    case = enough(number, "build_context_pack")
    response = build_context_pack.run(session_of(engine), sectioned_request(case))
    text = msgspec.json.encode(response).decode()
    free = case.tokens - response.metadata.headroom_tokens
    assert tokenizers.get(case.tokenizer).count(text) <= response.token_budget_used <= free
    check_schema(json.loads(text), "build_context_pack.response")


@pytest.mark.parametrize("name", ["context_pack", "build_context_pack", "pack"])
def test_the_whole_budget_is_used_where_there_is_enough(engine: Engine, name: str) -> None:
    case = enough(3, {"pack": "context"}.get(name, name), tokens=0)._replace(query="basket total price")
    answer = ask(engine, case)
    assert len(answer.pack.items) >= 3 and len(answer.document) > 0.5 * case.chars
