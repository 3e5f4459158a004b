"""Passages: disjoint, whole definitions where they are short, windows where not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from builders import SHOP, make_tree, memory_engine, session_of

from satchel.commands.context_pack import ContextPackRequest, ContextPackResponse
from satchel.commands.context_pack import run as context_pack
from satchel.engine import Engine
from satchel.lines import split_lines
from satchel.pack_request import PackRequest
from satchel.retrieval.filters import Filters
from satchel.retrieval.passages import split_by_chunk
from satchel.types import ChunkKind, Passage, Strategy

_BODY = "".join(f"    total_{number} = basket(price, {number})\n" for number in range(400))
TREE: dict[str, str | bytes] = {
    **SHOP,
    "src/huge.py": f"def basket_everything(\n    basket,\n    price,\n):\n{_BODY}    return basket\n",
    "docs/price.md": "# Price\n\nHow the basket price is added up.\n",
    "notes.txt": "basket price notes\n",
    "docs/old.rst": "Basket\n======\n\nThe basket price of old.\n",
    "web/page.mdx": "# Basket price\n\nbasket price\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("passages"), TREE))


def found(engine: Engine, query: str, filters: Filters | None = None, count: int = 200) -> list[Passage]:
    return engine.pipeline(PackRequest(query=query, filters=filters or Filters())).passages(count)


def ask(engine: Engine, query: str, **options: object) -> ContextPackResponse:
    return context_pack(session_of(engine), ContextPackRequest(query=query, **options))  # type: ignore[arg-type]


def test_passages_of_a_file_are_disjoint_and_in_order(shop: Engine) -> None:
    passages = found(shop, "basket price")
    assert len(passages) > 8
    for one, other in pairwise(passages):
        assert one.rank < other.rank or one.end_line < other.start_line
    assert all(passage.size == sum(map(len, lines_of(shop, passage))) for passage in passages)


def lines_of(engine: Engine, passage: Passage) -> list[str]:
    return split_lines(engine.snapshot().text(passage.path))[passage.start_line - 1 : passage.end_line]


def test_every_best_file_has_at_least_one(shop: Engine) -> None:
    files = {passage.path for passage in found(shop, "basket price", count=1)}
    assert files == {passage.path for passage in found(shop, "basket price")} and len(files) > 4


def test_a_long_definition_comes_in_windows_that_know_their_signature(shop: Engine) -> None:
    windows = [passage for passage in found(shop, "basket price") if passage.path == "src/huge.py"]
    assert len(windows) > 2 and all(passage.name == "basket_everything" for passage in windows)
    assert {passage.head for passage in windows} == {(1, 4)} and not windows[1].whole


def test_what_the_query_names_names_the_passage(shop: Engine) -> None:
    (named,) = [passage for passage in found(shop, "why does add_money add") if passage.named]
    assert named.name == "add_money" and "defines_named" in named.reasons


def test_the_chunks_of_a_passage_are_those_of_the_index(shop: Engine) -> None:
    passage = next(passage for passage in found(shop, "add_money") if passage.path == "src/money.py")
    parts = list(split_by_chunk(shop.corpus(), passage, "add_money"))
    chunks = shop.snapshot().chunks("src/money.py")
    assert [(part.start_line, part.end_line) for part in parts] == [
        (chunk.start_line, chunk.end_line) for chunk in chunks
    ]
    assert max(parts, key=lambda part: part.promise).name == "add_money"


@pytest.mark.parametrize("kind", ["function", "class", "section", "config"])
@pytest.mark.parametrize("count", [1, 200])
def test_a_kind_is_chosen_before_the_best_are_cut_off(shop: Engine, kind: str, count: int) -> None:
    passages = found(shop, "basket price total till", Filters(chunk_type=kind), count)
    assert 0 < len(passages) <= count and {passage.kind for passage in passages} == {ChunkKind(kind)}


def test_without_documents_there_is_no_prose(shop: Engine) -> None:
    wishes = {"strategy": Strategy.DEEP, "limit": 50, "max_chars": 200_000}
    everything = {item.file for item in ask(shop, "basket price", **wishes).items}
    code = {item.file for item in ask(shop, "basket price", include_docs=False, **wishes).items}
    prose = (".md", ".mdx", ".txt", ".rst")
    assert any(path.endswith(prose) for path in everything)
    assert code and not any(path.endswith(prose) for path in code)


def test_preferring_code_moves_documents_down_but_is_no_absolute_order(shop: Engine) -> None:
    def scores(**options: object) -> tuple[list[float], list[float]]:
        answer = ask(shop, "how the basket price is added up", strategy=Strategy.DIRECT, limit=50, **options)
        prose = [item.score for item in answer.items if item.type == "section"]
        return prose, [item.score for item in answer.items if item.type != "section"]

    (prose, code), (less_prose, more_code) = scores(prefer_code=False), scores(prefer_code=True)
    assert max(more_code) / max(less_prose) > max(code) / max(prose)
    assert max(less_prose) > min(more_code)
