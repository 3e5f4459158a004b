"""Anchors: what a query names outright is found, or it is said that it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine, session_of

from satchel.commands.build_context_pack import BuildContextPackRequest
from satchel.commands.build_context_pack import run as build_context_pack
from satchel.commands.context_pack import ContextPackRequest, ContextPackResponse
from satchel.commands.context_pack import run as context_pack
from satchel.engine import Engine
from satchel.rendering.packs import PACK_FORMATS


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("anchors"), SHOP))


def ask(engine: Engine, query: str) -> ContextPackResponse:
    return context_pack(session_of(engine), ContextPackRequest(query=query))


@pytest.mark.parametrize(
    ("query", "kind", "nearest"),
    [
        ("add_mony", "identifier", "add_money"),
        ("`add_mony`", "identifier", "add_money"),
        ("BasketTotal", "identifier", "Basket"),
        ("src/mony.py", "path", "src/money.py"),
        ("docs/guid.md", "path", "docs/guide.md"),
        ("RefundPolicyFactory", "identifier", ""),
        ('"no such text in here"', "quoted", ""),
    ],
)
def test_what_is_nowhere_gives_no_items_and_the_nearest_names(
    shop: Engine, query: str, kind: str, nearest: str
) -> None:
    answer = ask(shop, query)
    trust = answer.meta.trust
    assert answer.items == [] and trust is not None
    assert trust.anchor_not_found and trust.anchor_kind == kind and trust.anchor_hits == 0
    assert "is not in this repository" in answer.meta.hints[0] and nearest in answer.meta.hints[0]
    assert not nearest or nearest in answer.meta.next_queries


@pytest.mark.parametrize("query", ["add_mony", "src/mony.py"])
def test_the_sectioned_pack_says_it_too(shop: Engine, query: str) -> None:
    answer = build_context_pack(session_of(shop), BuildContextPackRequest(query=query))
    assert answer.metadata.selected == 0 and answer.metadata.anchor_not_found
    assert "is not in this repository" in answer.missing_context_hints[0]
    assert answer.suggested_next_queries


@pytest.mark.parametrize(
    "query",
    [
        "how does RefundPolicy compute the basket total price",
        "where is src/refund.py and the basket",
        'why is "rounding happens at the bank" in the basket',
    ],
)
def test_a_query_with_more_in_it_is_answered_and_says_what_is_missing(shop: Engine, query: str) -> None:
    answer = ask(shop, query)
    assert answer.items and answer.meta.trust is not None and answer.meta.trust.anchor_not_found
    assert "is not in this repository" in answer.meta.hints[0]


@pytest.mark.parametrize(
    ("query", "kind", "first"),
    [
        ("add_money", "identifier", "src/money.py"),
        ("addMoney", "identifier", "src/money.py"),
        ("Basket.total_price", "identifier", "src/basket.py"),
        ("src/basket.py", "path", "src/basket.py"),
        ("basket.py", "path", "src/basket.py"),
        ('"rounding happens at the till"', "quoted", "src/money.py"),
        ('"Rounding happens AT the till"', "quoted", "src/money.py"),
    ],
)
def test_what_is_there_is_found(shop: Engine, query: str, kind: str, first: str) -> None:
    answer = ask(shop, query)
    trust = answer.meta.trust
    assert trust is not None and trust.anchor_kind == kind and trust.anchor_hits > 0
    assert not trust.anchor_not_found and answer.items[0].file == first


def test_another_form_of_a_word_is_answered_but_not_taken_for_the_word(shop: Engine) -> None:
    answer = ask(shop, "Baskett")
    assert answer.meta.trust is not None and answer.meta.trust.anchor_not_found
    assert answer.items and "nearest: Basket" in answer.meta.hints[0]


def test_the_start_of_a_name_is_found(shop: Engine) -> None:
    answer = ask(shop, "total_pri")
    assert answer.items[0].file == "src/basket.py" and answer.meta.trust is not None
    assert not answer.meta.trust.anchor_not_found


def test_plain_words_are_no_anchor(shop: Engine) -> None:
    trust = ask(shop, "how does the customer pay").meta.trust
    assert trust is not None and not trust.anchor_detected and not trust.anchor_not_found


def test_what_a_filter_hides_is_still_in_the_repository(shop: Engine) -> None:
    answer = context_pack(session_of(shop), ContextPackRequest(query="add_money", path_prefix="docs"))
    assert answer.meta.trust is not None and not answer.meta.trust.anchor_not_found
    assert not [item for item in answer.items if not item.file.startswith("docs/")]


def test_no_next_query_is_invented(shop: Engine, tmp_path: Path) -> None:
    for query in ("add_mony", "src/mony.py", "zzzz qqqq", "BasketTotal"):
        for proposed in ask(shop, query).meta.next_queries:
            assert ask(shop, proposed).items, (query, proposed)


def test_a_quoted_text_is_found_behind_many_files_with_its_words(tmp_path: Path) -> None:
    tree = {f"a{number:03}.py": "answer = 1\nnot_returned = answer\n" for number in range(60)}
    tree |= {f"b{number:03}.py": "return_value = 'the answer'\n" for number in range(60)}
    engine = memory_engine(make_tree(tmp_path, {**tree, "z.py": "def last(answer):\n    return answer\n"}))
    trust = ask(engine, '"return answer"').meta.trust
    assert trust is not None and trust.anchor_hits == 1 and not trust.anchor_not_found
    absent = ask(engine, '"answer the return"').meta.trust
    assert absent is not None and absent.anchor_not_found


def test_a_name_inside_a_longer_word_is_not_that_name(tmp_path: Path) -> None:
    tree = {"a.py": "# many things are something\n", "b.py": "# Thing\n"}
    only_longer = memory_engine(make_tree(tmp_path / "one", {"a.py": tree["a.py"]}))
    trust = ask(only_longer, "`Thing`").meta.trust
    assert trust is not None and trust.anchor_not_found
    trust = ask(memory_engine(make_tree(tmp_path / "both", tree)), "`Thing`").meta.trust
    assert trust is not None and trust.anchor_hits == 1


@pytest.mark.parametrize("renderer", ["context", "markdown", "terminal", "xml"])
@pytest.mark.parametrize("budget", range(250, 700, 50))
def test_what_is_nowhere_is_said_however_small_the_budget(shop: Engine, renderer: str, budget: int) -> None:
    query = "`RefundPolicyFactory` and the basket total"
    pack = shop.pack(query, budget_tokens=budget, render=PACK_FORMATS.get(renderer).render)
    assert pack.hints[0].startswith("'RefundPolicyFactory' is not in this repository")


PAYMENT = {
    "src/shop/payment.py": "def pay():\n    return 1\n",
    "src/shop/__init__.py": "",
    "web/cart.js": "function add() {}\n",
    "main.py": "def start():\n    pass\n",
}


@pytest.fixture(scope="module")
def paying(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("paying"), PAYMENT))


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("/usr/src/app/shop/payment.py", "src/shop/payment.py"),
        ("app/src/shop/payment.py:12", "src/shop/payment.py"),
        ("C:\\work\\shop\\payment.py", "src/shop/payment.py"),
        ("C:\\work\\shop\\payment.py:12 fails", "src/shop/payment.py"),
        ("site-packages/shop/payment.py", "src/shop/payment.py"),
        ("file:///app/shop/payment.py", "src/shop/payment.py"),
        ("~/code/shop/payment.py", "src/shop/payment.py"),
        ("../shop/payment.py", "src/shop/payment.py"),
        ("webpack:///./web/cart.js", "web/cart.js"),
        ("/usr/src/app/main.py", "main.py"),
        (
            'Traceback (most recent call last):\n  File "/usr/src/app/shop/payment.py", line 2, in pay\n'
            "ValueError: odd\n",
            "src/shop/payment.py",
        ),
    ],
)
@pytest.mark.parametrize("pack", ["flat", "sectioned"])
def test_a_path_under_another_prefix_is_found(paying: Engine, query: str, first: str, pack: str) -> None:
    if pack == "flat":
        answer = ask(paying, query)
        paths, hints, trust = [item.file for item in answer.items], answer.meta.hints, answer.meta.trust
        assert trust is not None and trust.anchor_hits and not trust.anchor_not_found
    else:
        sections = build_context_pack(session_of(paying), BuildContextPackRequest(query=query))
        paths = [item.path for item in sections.sections.definitions]
        hints = sections.missing_context_hints
        assert not sections.metadata.anchor_not_found
    assert paths[0] == first and not [hint for hint in hints if "not in this repository" in hint]


def test_a_name_in_another_folder_is_told_and_not_called_absent(paying: Engine) -> None:
    answer = ask(paying, "why does /opt/other/payment.py fail")
    assert answer.meta.trust is not None and not answer.meta.trust.anchor_not_found
    assert answer.meta.hints[0] == (
        "'/opt/other/payment.py' is not at that path here; files of its name: src/shop/payment.py"
    )


@pytest.mark.parametrize(
    "query",
    ["/usr/lib/requests/sessions.py", "lib/other/__init__.py", "/usr/src/app/shop/refund.py", "other/shop"],
)
def test_what_no_end_of_a_path_names_is_absent(paying: Engine, query: str) -> None:
    answer = ask(paying, query)
    assert answer.meta.trust is not None and answer.meta.trust.anchor_not_found
    assert "is not in this repository" in answer.meta.hints[0]


ROUTES = {
    "src/server.py": "def routes(app):\n    app.get('/api/baskets/all', baskets)\n    app.log('run/shop.log')\n",
    "src/shop.py": "def shop():\n    return 1\n",
    "docs/shop.log.md": "# The log\n",
}


@pytest.mark.parametrize("query", ["/api/baskets/all", "api/baskets", "run/shop.log"])
def test_a_path_that_is_a_text_of_the_code_is_answered(tmp_path: Path, query: str) -> None:
    engine = memory_engine(make_tree(tmp_path, ROUTES))
    flat = ask(engine, query)
    assert flat.items[0].file == "src/server.py"
    pack = engine.pack(query, budget_tokens=600)
    assert pack.items[0].path == "src/server.py"
    assert not [hint for hint in pack.hints if "is not in this repository" in hint]
    assert pack.trust is not None and pack.trust.anchor_hits == 1
