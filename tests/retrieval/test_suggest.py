"""Suggestions: real next searches, never invented ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel.engine import Engine
from satchel.retrieval.filters import Filters

WORDS = {
    "words.md": "# Parsing parsers\n\nparses running classes statuses buses optimization validated queries"
    " serializer normalized caching indices analyses addresses processes\n",
    "names.py": "class RouterGroup:\n    pass\n\n\ndef normalise_path():\n    pass\n\n\ndef __init__():\n    pass\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Engine:
    return memory_engine(make_tree(tmp_path, {**SHOP, **WORDS}))


@pytest.mark.parametrize(
    "query",
    [
        "RouterGrop",
        "normalize_paths_fast",
        "baskt",
        "addMoneyNow",
        "parsx",
        "procesz",
        "classez",
        "addresz",
        "statuz",
        "buse",
        "queriez",
        "optimizzz",
        "indicez",
        "cachx",
        "serialzzz",
        "tillx openx",
        "customerz xyzzy",
        "__ini__",
    ],
)
def test_each_suggestion_finds_something(shop: Engine, query: str) -> None:
    hits, suggestions = shop.search(query)
    for suggestion in suggestions:
        assert shop.search(suggestion.query)[0], suggestion
    assert hits or suggestions


@pytest.mark.parametrize(
    ("query", "proposed", "why"),
    [("RoutrGroop", "RouterGroup", "a symbol"), ("optimizzz", "optimization", "starts like")],
)
def test_a_suggestion_says_where_it_comes_from(shop: Engine, query: str, proposed: str, why: str) -> None:
    hits, suggestions = shop.search(query)
    assert hits == [] and any(item.query == proposed and why in item.reason for item in suggestions)


def test_the_filter_that_removed_all_hits_is_named(shop: Engine) -> None:
    hits, suggestions = shop.search(
        "add_money", filters=Filters(language="rust", path_prefix="src", include_paths=(".",))
    )
    assert hits == [] and [item.query for item in suggestions] == ["add_money"]
    assert suggestions[0].reason.endswith("without the filter language")


def test_the_number_of_files_without_the_filter_is_true(shop: Engine) -> None:
    _, (suggestion,) = shop.search("basket", filters=Filters(language="rust"))
    files = {hit.path for hit in shop.search("basket", 1000)[0]}
    assert suggestion.reason.startswith(f"{len(files)} files ")


@pytest.mark.parametrize("query", ["wdiget", "idget", "xwidget", "Wigdet"])
def test_a_slip_in_the_first_letters_finds_the_nearest_symbol(tmp_path: Path, query: str) -> None:
    engine = memory_engine(
        make_tree(tmp_path, {"a.py": "def widget():\n    return 1\n\n\ndef other(): ...\n"})
    )
    assert [item.query for item in engine.search(query)[1]] == ["widget"]


def test_filters_that_remove_the_hits_together_are_named_together(shop: Engine) -> None:
    (suggestion,) = shop.search("add_money", filters=Filters(path_prefix="docs", language="rust"))[1]
    assert suggestion.reason.endswith("without the filter path_prefix, language")


def test_a_filter_whose_absence_finds_nothing_is_not_named(tmp_path: Path) -> None:
    text = "def till():\n    # this does what the bank does\n    return 1\n"
    engine = memory_engine(make_tree(tmp_path, {"a.py": text}))
    assert engine.search("where does this start")[0] == []
    hits, suggestions = engine.search("where does this start", filters=Filters(exclude_paths=("b.py",)))
    assert hits == [] and not any("without the filter" in item.reason for item in suggestions)


@pytest.mark.parametrize("everything", [".", "./", "/"])
def test_a_path_that_means_everything_is_no_filter(everything: str) -> None:
    paths = (everything,)
    assert Filters(path_prefix=everything, include_paths=("src", *paths), exclude_paths=paths).active() == []


def test_nothing_alike_means_no_suggestion(shop: Engine) -> None:
    assert shop.search("qqqq zzzz") == ([], [])


def test_suggestions_are_few_and_differ(shop: Engine) -> None:
    _, suggestions = shop.search("baskt RouterGrop normalize_pth add_mony tillx pricx customerx setupx")
    queries = [item.query.lower() for item in suggestions]
    assert len(queries) == len(set(queries)) <= 5


def test_hits_come_without_suggestions(shop: Engine) -> None:
    assert shop.search("basket")[1] == []


@pytest.mark.parametrize("asked", ["HTTPServr", "httpserver", "Web.HTTPServer_"])
def test_near_names_begin_with_the_most_similar(tmp_path: Path, asked: str) -> None:
    names = ("HTTPClient", "HTTPError", "HTTPHandler", "HTTPMessage", "HTTPPool", "HTTPServer", "HTTPSocket")
    root = make_tree(tmp_path / "web", {"web.py": "".join(f"class {name}:\n    pass\n\n" for name in names)})
    with memory_engine(root) as engine:
        engine.refresh()
        assert engine.near_symbols(asked)[0] == "HTTPServer"
        assert engine.near_symbols("zzq") == []
