"""The signals of kinds: what sort of file it is, unless the query asks for that sort."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine, signals

PATHS = (
    "src/till.py",
    "tests/test_till.py",
    "examples/till.py",
    "src/compat/till.py",
    "src/interfaces/till.py",
    "src/till.pyi",
    "src/till.d.cts",
    "docs/till.md",
    "docs/conf.py",
    "config/till.toml",
    "Makefile",
)


def kinds(tmp_path: Path, query: str) -> dict[str, dict[str, float]]:
    tree = dict.fromkeys(PATHS, "# till drawer\ntill = 'drawer'\n")
    return signals(memory_engine(make_tree(tmp_path, tree)), query, "kinds")


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("test", {"tests/test_till.py"}),
        ("aside", {"examples/till.py", "src/compat/till.py", "src/till.pyi", "src/till.d.cts"}),
        ("contract", {"src/interfaces/till.py"}),
        ("document", {"docs/till.md"}),
        ("docs", {"docs/conf.py"}),
        ("data", {"config/till.toml", "Makefile"}),
        ("build", {"Makefile"}),
    ],
)
def test_each_kind_marks_its_files_and_no_other(tmp_path: Path, name: str, paths: set[str]) -> None:
    found = kinds(tmp_path, "till drawer")[name]
    assert {path for path, value in found.items() if value} == paths
    assert all(found[path] == (0.5 if name == "document" else 1.0) for path in paths)


@pytest.mark.parametrize(
    ("query", "name", "path"),
    [
        ("tests for the till drawer", "test", "tests/test_till.py"),
        ("documentation of the till drawer", "document", "docs/till.md"),
        ("config file of the till drawer", "data", "config/till.toml"),
    ],
)
def test_a_query_that_asks_for_a_kind_counts_it_in_favour_of_a_file(
    tmp_path: Path, query: str, name: str, path: str
) -> None:
    assert kinds(tmp_path, query)[name][path] == -0.2


def test_who_asks_for_tests_does_not_ask_for_examples(tmp_path: Path) -> None:
    assert kinds(tmp_path, "tests for the till drawer")["aside"]["examples/till.py"] == 0.0


def test_deeper_files_are_deeper(tmp_path: Path) -> None:
    found = kinds(tmp_path, "till drawer")["depth"]
    assert found["Makefile"] == 0.0 < found["src/till.py"] < found["src/compat/till.py"]


def test_longer_files_are_larger(tmp_path: Path) -> None:
    tree = {"a.py": "till = 1\n", "b.py": "till = 1\n" * 50}
    found = signals(memory_engine(make_tree(tmp_path, tree)), "till", "kinds")["size"]
    assert 0 < found["a.py"] < found["b.py"]


def test_a_report_is_rather_about_code_than_about_documents(tmp_path: Path) -> None:
    report = "The till jams\n\nThe drawer of the till does not open.\n"
    assert kinds(tmp_path, report)["document"]["docs/till.md"] == 1.0


def test_the_depth_counts_once_more_when_a_mechanism_is_asked_for(tmp_path: Path) -> None:
    how = kinds(tmp_path / "how", "how the till drawer works")
    assert how["depth_how"] == how["depth"] and any(how["depth"].values())


@pytest.mark.parametrize("query", ["till drawer", "till drawer\n\nI wonder how the till opens its drawer."])
def test_a_phrase_and_a_report_ask_for_no_mechanism(tmp_path: Path, query: str) -> None:
    assert not any(kinds(tmp_path, query)["depth_how"].values())


@pytest.mark.parametrize(
    ("report", "held_against"),
    [
        ("Tests of the till fail\n\nThe drawer stays shut.\n", -0.2),
        ("test_till hangs\n\nThe drawer stays shut.\n", 0.2),
        ("The till jams\n\nThe tests pass, as `test_till` does in tests/test_till.py.\n", 1.0),
    ],
)
def test_a_report_asks_for_tests_if_its_title_speaks_of_them(
    tmp_path: Path, report: str, held_against: float
) -> None:
    assert kinds(tmp_path, report)["test"]["tests/test_till.py"] == pytest.approx(held_against)


def test_a_report_to_a_project_about_tests_asks_for_its_code(tmp_path: Path) -> None:
    tree = {f"src/{name}.py": f"# run a test\n{name} = 'till'\n" for name in ("collect", "run", "report")}
    engine = memory_engine(make_tree(tmp_path, {**tree, "tests/test_run.py": "run = 'till'\n"}))
    found = signals(engine, "Tests of the till fail\n\nThe drawer stays shut.\n", "kinds")
    assert found["test"]["tests/test_run.py"] == 1.0


DATA = {  # each says it more often than the code
    "package-lock.json": '{"discount-coupon": "expired"}\n' * 9,
    "yarn.lock": "discount-coupon@1:\n  expired discount coupon\n" * 9,
    "src/__snapshots__/coupon.test.js.snap": "discount coupon expired\n" * 9,
    "locales/en.json": '{"discount.coupon.expired": "The discount coupon expired"}\n' * 9,
    "locale/de/LC_MESSAGES/shop.po": 'msgid "The discount coupon expired"\nmsgstr "Abgelaufen"\n' * 9,
    "src/locales/en.js": "export default {\n" + "  expired: 'The discount coupon expired',\n" * 9 + "}\n",
    "static/coupon.bundle.js": "function discountCoupon() { return 'discount coupon expired'; }\n" * 9,
    "third_party/coupon.js": "function discountCoupon() { return 'discount coupon expired'; }\n" * 9,
}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("discount coupon expired", "src/pricing.js"),
        ("Discount coupon expired too early\n\nIt says that the coupon expired.\n", "src/pricing.js"),
        ("lock file with the discount coupon", "package-lock.json"),
    ],
)
def test_data_snapshots_translations_and_bundles_stand_below_code_unless_asked_for(
    tmp_path: Path, query: str, first: str
) -> None:
    code = """function applyDiscountCoupon(cart) {
  // An expired coupon gives no discount.
  if (cart.coupon.end < now) throw new Error('expired');
}
"""
    engine = memory_engine(make_tree(tmp_path, {**DATA, "src/pricing.js": code}))
    hits, _ = engine.search(query)
    assert hits[0].path == first


SHOP = {
    "src/cache.py": "class Cache:\n    def keep_page(self, page, seconds):\n        self.pages[page] = seconds\n",
    "docs/caching.md": "# Caching\n\nSet `cache_timeout` to the seconds that pages are kept.\n",
    "config/shop.toml": "cache_timeout = 60  # seconds that pages are kept\n",
    "tests/test_cache.py": "def test_keep():\n    Cache().keep('page', 60)\n",
}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how does the cache keep pages", "src/cache.py"),
        ("Cache keeps pages too long\n\nThe docs say 60 seconds, the tests pass.\n", "src/cache.py"),
        ("Docs on how long pages are kept are wrong\n\nThe seconds are minutes.\n", "docs/caching.md"),
        ("Tests of the cache are flaky\n\nThey wait too long.\n", "tests/test_cache.py"),
    ],
)
def test_a_report_finds_the_kind_of_file_that_its_title_is_about(
    tmp_path: Path, query: str, first: str
) -> None:
    hits, _ = memory_engine(make_tree(tmp_path, SHOP)).search(query)
    assert hits[0].path == first


def test_a_how_to_finds_documents_and_settings_before_code(tmp_path: Path) -> None:
    hits, _ = memory_engine(make_tree(tmp_path, SHOP)).search("how do I configure caching of pages")
    assert {hit.path for hit in hits[:2]} == {"docs/caching.md", "config/shop.toml"}


@pytest.mark.parametrize(
    ("query", "held_against"),
    [
        ("discount coupon expired", 1.0),
        ("Translation of the discount coupon is wrong\n\nIt has expired.\n", 0.0),
        ("snapshot of the discount coupon", 0.0),
        ("discount coupon in other locales", 0.0),
    ],
)
def test_who_names_translations_or_snapshots_asks_for_them(
    tmp_path: Path, query: str, held_against: float
) -> None:
    found = signals(memory_engine(make_tree(tmp_path, DATA)), query, "kinds")["aside"]
    repeated = ("src/__snapshots__/coupon.test.js.snap", "locales/en.json", "src/locales/en.js")
    assert {found[path] for path in repeated} == {held_against}
    assert found["yarn.lock"] == 0.0
