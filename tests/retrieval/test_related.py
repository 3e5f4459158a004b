"""Related items: what belongs to a passage, how, and how far away; never twice, never against the filters."""

from __future__ import annotations

import pytest
from builders import SHOP, make_tree, memory_engine, session_of

from satchel.commands.context_pack import ContextItem, ContextPackRequest
from satchel.commands.context_pack import run as context_pack
from satchel.engine import Engine
from satchel.retrieval.related import EDGE_WORTH, find_related
from satchel.types import RelatedMode, Strategy

TREE: dict[str, str | bytes] = {
    **SHOP,
    "src/special.py": "from src.basket import Basket\n\n\nclass Special(Basket):\n    pass\n",
    "src/checkout.py": "from src.basket import Basket\n\n\ndef check_out():\n    return Basket().total_price()\n",
    "src/shop.py": "from src.checkout import check_out\n\n\ndef serve():\n    return check_out()\n",
}
BASKET = ("src/basket.py", 6, 13)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("related"), TREE))


def around(engine: Engine, hops: int, per_primary: int = 20) -> dict[str, tuple[set[str], int]]:
    """symbol → labels and distance."""
    mode = RelatedMode.EXPLORE
    found = find_related(engine.corpus(), [BASKET], set(), hops=hops, mode=mode, per_primary=per_primary)
    return {item.chunk.title_path[-1]: ({str(one) for one in item.labels}, item.distance) for item in found}


def items(engine: Engine, query: str = "Basket", **options: object) -> list[ContextItem]:
    request = ContextPackRequest(query=query, **options)  # type: ignore[arg-type]
    return [item for item in context_pack(session_of(engine), request).items if item.role == "related"]


def test_labels_and_distances_are_those_of_the_shortest_way(shop: Engine) -> None:
    found = around(shop, 2)
    assert found["add_money"] == ({"calls"}, 1) and found["Special"] == ({"extends"}, 1)
    assert found["check_out"][1] == 1 and "calls" in found["check_out"][0]
    assert found["test_total"] == ({"tested_by"}, 1) and found["serve"] == ({"calls"}, 2)


def test_one_hop_goes_no_further(shop: Engine) -> None:
    assert "serve" not in around(shop, 1) and {distance for _, distance in around(shop, 1).values()} == {1}


def test_no_label_fills_the_halo_while_others_are_there(shop: Engine) -> None:
    labels = [found[0] for found in around(shop, 1, per_primary=4).values()]
    assert sum("calls" in names for names in labels) <= 2 < len(labels)


def test_every_primary_has_its_turn(shop: Engine) -> None:
    primaries = [BASKET, ("src/checkout.py", 4, 5)]
    found = find_related(shop.corpus(), primaries, set(), hops=1, mode=RelatedMode.EXPLORE, per_primary=1)
    assert [item.primary for item in found] == [0, 1]


def test_focus_puts_what_mentions_the_query_first(shop: Engine) -> None:
    found = find_related(shop.corpus(), [BASKET], {"round"}, hops=1, mode=RelatedMode.FOCUS, per_primary=9)
    assert found[0].chunk.title_path == ("add_money",) and found[0].worth > max(EDGE_WORTH.values())


@pytest.mark.parametrize(("strategy", "most"), [("direct", 0), ("extended", 1), ("deep", 2)])
def test_a_strategy_is_a_number_of_hops(shop: Engine, strategy: str, most: int) -> None:
    found = items(shop, strategy=Strategy(strategy), limit=1, max_related_per_primary=20)
    assert max((item.distance for item in found), default=0) == most
    assert all(item.relationship and item.distance for item in found)


def test_none_are_given_where_none_are_wanted(shop: Engine) -> None:
    assert items(shop, max_related_per_primary=0) == [] != items(shop)


def test_related_items_are_never_primary_ones_too(shop: Engine) -> None:
    answer = context_pack(
        session_of(shop), ContextPackRequest(query="Basket", strategy=Strategy.DEEP, limit=3)
    )
    assert len({item.id for item in answer.items}) == len(answer.items)


@pytest.mark.parametrize(
    "filters",
    [{"path_prefix": "src"}, {"exclude_paths": ("tests",)}, {"language": "python"}, {"include_docs": False}],
)
def test_filters_hold_for_related_items(shop: Engine, filters: dict[str, object]) -> None:
    found = items(shop, limit=1, strategy=Strategy.DEEP, max_related_per_primary=20, **filters)
    assert found and all(item.file.endswith(".py") for item in found)
    assert (
        "language" in filters or "include_docs" in filters or not any("test" in item.file for item in found)
    )


def test_a_kind_of_chunk_holds_for_related_items(shop: Engine) -> None:
    answer = context_pack(
        session_of(shop), ContextPackRequest(query="Basket", chunk_type="class", strategy=Strategy.DEEP)
    )
    assert answer.items and {item.type for item in answer.items} == {"class"}
