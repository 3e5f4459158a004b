"""Search: filters before the cut, a stable order, an explained score, verbatim snippets."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from builders import SHOP, make_engine, make_tree, memory_engine

from satchel import plugins
from satchel.engine import Engine
from satchel.errors import InvalidQuery, InvalidRequest
from satchel.lines import split_lines
from satchel.retrieval import file_cache, ranker
from satchel.retrieval.filters import Filters
from satchel.retrieval.search import MAX_QUERY_CHARS, MAX_RESULTS, gather_evidence, snippet_lines
from satchel.types import Hit


@pytest.fixture
def shop(tmp_path: Path) -> Engine:
    return memory_engine(make_tree(tmp_path, SHOP))


def found(engine: Engine, query: str, k: int = 10, **filters: object) -> list[Hit]:
    return engine.search(query, k, Filters(**filters), explain=True)[0]  # type: ignore[arg-type]


def test_a_definition_comes_before_its_uses(shop: Engine) -> None:
    hit = found(shop, "add_money")[0]
    assert (hit.path, hit.name, hit.kind) == ("src/money.py", "add_money", "function")


def test_words_find_identifiers_and_identifiers_find_words(shop: Engine) -> None:
    assert found(shop, "total price")[0].name == "Basket"
    assert found(shop, "totalPrice")[0].name == "Basket"
    assert {hit.path for hit in found(shop, "baskets")} >= {"src/basket.py", "docs/guide.md"}


def test_a_hit_cites_its_lines_exactly(shop: Engine) -> None:
    for hit in found(shop, "basket price till setup", 50):
        lines = split_lines((shop.root / hit.path).read_bytes().decode())
        assert hit.text == "".join(lines[hit.start_line - 1 : hit.end_line])
        at = hit.snippet_line - 1
        assert (
            "".join(lines[at:]).startswith(hit.snippet) and hit.start_line <= hit.snippet_line <= hit.end_line
        )


def test_a_snippet_is_a_verbatim_part_of_a_long_chunk(tmp_path: Path) -> None:
    text = "# Long\n\n" + "".join(f"line {number} of a long story\n" for number in range(60)) + "the needle\n"
    hit = found(memory_engine(make_tree(tmp_path, {"long.md": text})), "needle")[0]
    assert "needle" in hit.snippet and hit.snippet in hit.text and len(split_lines(hit.snippet)) <= 6


def test_a_snippet_of_very_long_lines_is_cut_but_verbatim(tmp_path: Path) -> None:
    text = "# Long\n\n" + "needle " * 1000 + "\n"
    hit = found(memory_engine(make_tree(tmp_path, {"long.md": text})), "needle")[0]
    assert hit.snippet in hit.text and len(hit.snippet) <= 480


@pytest.mark.parametrize(("count", "window"), [(1, (0, 1)), (9, (3, 9))])
def test_the_window_of_a_snippet_holds_most_of_the_terms(count: int, window: tuple[int, int]) -> None:
    lines = ["nothing\n"] * count
    lines[-1] = "alpha beta\n"
    assert snippet_lines(lines, {"alpha", "beta"}) == window


def test_filters_apply_before_the_cut(tmp_path: Path) -> None:
    tree = {f"a{number:02}.md": "# Basket basket\n\nbasket basket\n" for number in range(30)}
    engine = memory_engine(
        make_tree(tmp_path, {**tree, "zz/last.md": "basket once among many other words\n"})
    )
    assert [hit.path for hit in found(engine, "basket", 1, path_prefix="zz")] == ["zz/last.md"]


def test_the_chunk_type_applies_before_the_cut(tmp_path: Path) -> None:
    tree = {f"a{number:03}.md": "# Basket basket\n\nbasket basket\n" for number in range(250)}
    engine = memory_engine(make_tree(tmp_path, {**tree, "z.py": "class Other:\n    basket = 1\n"}))
    assert [hit.path for hit in found(engine, "basket", 1, chunk_type="class")] == ["z.py"]


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        ({"path_prefix": "src"}, {"src/basket.py", "src/money.py", "src/till.go"}),
        ({"path_prefix": "./src/"}, {"src/basket.py", "src/money.py", "src/till.go"}),
        ({"file_type": ".go"}, {"src/till.go"}),
        ({"language": "markdown"}, {"README.md", "docs/guide.md"}),
        ({"chunk_type": "class"}, {"src/basket.py"}),
        ({"tags": ("test",)}, {"tests/test_basket.py"}),
        ({"tags": ("test", "go")}, set()),
        ({"tags": ("python", "test")}, {"tests/test_basket.py"}),
        ({"include_paths": ("docs", "src/*.go")}, {"docs/guide.md", "src/till.go"}),
        ({"include_paths": ("src",), "exclude_paths": ("src/*.py",)}, {"src/till.go"}),
        ({"file_pattern": "basket"}, {"src/basket.py", "tests/test_basket.py"}),
        ({"file_pattern": "**/*_basket.py"}, {"tests/test_basket.py"}),
    ],
)
def test_each_filter_leaves_only_what_it_names(
    shop: Engine, filters: dict[str, object], paths: set[str]
) -> None:
    query = "basket money till setup price rules"
    assert {hit.path for hit in found(shop, query, 50, **filters)} == paths


def test_a_prefix_does_not_reach_into_a_folder_that_starts_alike(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"src/a.md": "basket\n", "src2/b.md": "basket\n"}))
    assert [hit.path for hit in found(engine, "basket", path_prefix="src")] == ["src/a.md"]


def test_ties_break_by_path_and_files_come_before_second_chunks(
    tmp_path: Path, without_vectors: None
) -> None:
    same = "# One\n\nbasket\n\n# Two\n\nbasket\n"
    engine = memory_engine(make_tree(tmp_path, {"x/b.md": same, "x/a.md": same, "x/c.md": same}))
    hits = found(engine, "basket", 50)
    assert len({hit.score for hit in hits}) == 1
    assert [(hit.path, hit.start_line) for hit in hits] == [
        (path, line) for line in (1, 5) for path in ("x/a.md", "x/b.md", "x/c.md")
    ]


def test_a_file_has_a_second_hit_when_ten_others_had_one(tmp_path: Path) -> None:
    def text(file: int) -> str:
        body = "".join(f"    step_{number} = basket({file}, {number})\n" for number in range(40))
        return "\n\n".join(f"def basket_{name}_{file}():\n{body}" for name in ("sum", "list", "name"))

    files = {f"src/part_{number:02}.py": text(number) for number in range(25)}
    engine = memory_engine(make_tree(tmp_path, files))
    hits = found(engine, "basket", 40)
    seen = [hit.path for hit in hits]
    assert len(set(seen[:11])) == 11 and seen[11] == seen[0] and seen[13] == seen[1]
    assert len({(hit.path, hit.start_line) for hit in hits}) == 40
    for k in (10, 11, 12, 13, 21, 30):
        assert found(engine, "basket", k) == hits[:k]


def test_a_larger_k_only_adds_hits_at_the_end(shop: Engine) -> None:
    everything = found(shop, "basket price till", 50)
    assert len(everything) > 4
    for k in range(1, len(everything)):
        assert found(shop, "basket price till", k) == everything[:k]


def test_the_reasons_sum_to_the_score(shop: Engine) -> None:
    for hit in found(shop, "basket total price of the customer", 50):
        rounding = 0.00005 * (len(hit.reasons) + 1)  # each part is rounded to four digits, and so is the sum
        assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score, abs=rounding)


def test_reasons_are_named_signals_that_say_something_the_largest_first(shop: Engine) -> None:
    known = {name for group in plugins.names("signal") for name in plugins.load("signal", group).signals}
    for hit in found(shop, "basket total price of the customer", 50):
        names = [reason.signal for reason in hit.reasons]
        assert len(set(names)) == len(names) and set(names) <= known
        assert all(reason.strength for reason in hit.reasons)
        sizes = [abs(reason.score) for reason in hit.reasons]
        assert sizes == sorted(sizes, reverse=True)


def test_a_reason_is_its_strength_times_its_weight(shop: Engine) -> None:
    weights = ranker.weights(shop.profile)
    for reason in found(shop, "add_money")[0].reasons:
        exact = reason.strength * weights[reason.signal]
        assert reason.score == pytest.approx(exact, abs=0.0001 * (1 + abs(weights[reason.signal])))


def test_the_words_of_a_definition_are_a_reason(shop: Engine) -> None:
    assert {"definition_symbol", "unit_full"} <= {item.signal for item in found(shop, "add_money")[0].reasons}


def test_no_file_has_a_second_hit_before_every_file_has_one(tmp_path: Path) -> None:
    parts = "".join(f"def basket_{number}():\n    return {number} * 'x'\n\n\n" for number in range(60))
    tree = {f"{name}.py": parts.replace("'x'", repr(name)) for name in "abc"}
    hits = found(memory_engine(make_tree(tmp_path, tree)), "basket", 8)
    assert sorted(hit.path for hit in hits[:3]) == ["a.py", "b.py", "c.py"]
    assert len(hits) == 8 == len({hit.id for hit in hits})


def test_a_k_larger_than_the_index_gives_every_chunk_once(tmp_path: Path) -> None:
    tree = {f"{name}.md": f"# One {name}\n\nbasket\n\n# Two {name}\n\nbasket\n" for name in "ab"}
    hits = found(memory_engine(make_tree(tmp_path, tree)), "basket", MAX_RESULTS)
    assert sorted(hit.name for hit in hits) == ["One a", "One b", "Two a", "Two b"]


def test_a_copied_text_is_shown_once(tmp_path: Path) -> None:
    text = "def basket():\n" + "".join(f"    step_{number} = {number}\n" for number in range(30))
    tree = {"a.py": text, "b.py": text, "c.py": text.replace(" = ", "   =  "), "d.py": "basket = 1\n"}
    hits = found(memory_engine(make_tree(tmp_path, tree)), "basket", 10)
    assert sorted(hit.path for hit in hits) == ["a.py", "d.py"]


def test_a_short_text_may_be_shown_twice(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"a.py": "basket = 1\n", "b.py": "basket = 1\n"}))
    assert [hit.path for hit in found(engine, "basket")] == ["a.py", "b.py"]


def test_nothing_found_is_no_hit_though_every_file_has_a_vector(shop: Engine) -> None:
    assert shop.corpus().file_vectors is not None
    assert found(shop, "trolley invoice") == []  # near in meaning, and no word of it stands anywhere


@pytest.mark.parametrize("kind", ["names", "prose", "trace"])
def test_the_longest_query_is_answered_in_time(tmp_path: Path, kind: str) -> None:
    line = {
        "names": "`Basket.add_item_{0}` and src/basket_{0}.py:{0} break RouterGroup{0}\n",
        "prose": "The total price of basket number {0} is wrong whenever a customer pays first. ",
        "trace": '  File "src/basket.py", line {0}, in total_price\n    return add_money_{0}()\n',
    }[kind]
    text = "Wrong total price of the Basket\n\n" + "".join(line.format(number) for number in range(3000))
    with make_engine(make_tree(tmp_path, SHOP)) as engine:  # in SQLite, where people ask
        engine.refresh()
        start = time.perf_counter()
        assert found(engine, text[:MAX_QUERY_CHARS])[0].path == "src/basket.py"
        assert time.perf_counter() - start < 5  # a tenth of it on an idle machine


def test_reasons_are_given_only_when_asked_for(shop: Engine) -> None:
    assert all(hit.reasons == () for hit in shop.search("basket")[0])


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_an_empty_query_is_a_typed_error(shop: Engine, query: str) -> None:
    with pytest.raises(InvalidQuery):
        shop.search(query)


def test_a_query_too_long_is_a_typed_error(shop: Engine) -> None:
    with pytest.raises(InvalidQuery, match="100,000"):
        shop.search("a" * (MAX_QUERY_CHARS + 1))


@pytest.mark.parametrize("k", [0, -1, MAX_RESULTS + 1])
def test_a_k_out_of_range_is_a_typed_error_that_names_the_range(shop: Engine, k: int) -> None:
    with pytest.raises(InvalidRequest, match=f"{k}.*1 to {MAX_RESULTS}"):
        shop.search("basket", k)


@pytest.mark.parametrize(
    "query", ["()[]{}!?", "💡", "***", "\0", "0123456789012345", "' OR 1=1 --", "\ud800"]
)
def test_a_query_of_odd_characters_is_answered(shop: Engine, query: str) -> None:
    hits, suggestions = shop.search(query)
    assert hits == [] and isinstance(suggestions, list)


def test_an_unknown_chunk_type_finds_nothing_and_breaks_nothing(shop: Engine) -> None:
    assert found(shop, "basket", chunk_type="no-such-kind") == []


def test_text_without_word_spaces_is_found(tmp_path: Path) -> None:
    engine = memory_engine(
        make_tree(tmp_path, {"zh.md": "# 購物車\n\n顧客的購物車總價\n", "en.md": "cart\n"})
    )
    assert [hit.path for hit in found(engine, "購物車")] == ["zh.md"]


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    assert memory_engine(tmp_path).search("basket") == ([], [])


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (".github/ISSUE_TEMPLATE/bug.md", "**Do you use `drawer_lock` or `drawer_open`?**\n"),
        (".github/ISSUE_TEMPLATE.md", "Do you use drawer_lock or drawer_open?\n"),
        (".gitlab/issue_templates/bug.yml", "body:\n  - label: Do you use drawer_lock or drawer_open?\n"),
    ],
)
def test_what_the_issue_form_of_the_repository_asks_counts_nothing(
    tmp_path: Path, path: str, form: str
) -> None:
    tree = {
        "drawer.py": "def drawer_lock():\n    pass\n\n\ndef drawer_open():\n    pass\n",
        "till.py": "till = 1\n",
    }
    report = "The till jams\n\n### Do you use `drawer_lock` or `drawer_open`?\n\nIt jams.\n"
    engine = memory_engine(make_tree(tmp_path, {**tree, path: form}))
    context = gather_evidence(engine.corpus(), report, Filters(), 10)
    assert context is not None and "=drawerlock" not in context.query_terms.terms
    without = memory_engine(make_tree(tmp_path / "without", tree))
    context = gather_evidence(without.corpus(), report, Filters(), 10)
    assert context is not None and "=drawerlock" in context.query_terms.terms


def test_answers_stay_the_same_where_few_outlines_are_kept(
    shop: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("basket total", "session store", "how is a basket saved", "basket total")
    expected = [found(shop, query, 10) for query in asked]
    monkeypatch.setattr(file_cache, "_OUTLINE_BYTES", 10_000)
    shop.corpus().file_cache.forget_outlines()
    assert [found(shop, query, 10) for query in asked] == expected
