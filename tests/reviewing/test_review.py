"""Review packs on real repositories: what a reviewer is shown of a change, in which order, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import git, git_repo, make_engine, make_tree

from satchel import plugins
from satchel.lines import split_lines
from satchel.packing.pack import Item, Pack
from satchel.packing.sections import Section
from satchel.retrieval.filters import Filters

CART = '''import decimal
import json


class Cart:
    def total(self, items):
        return sum(item.price for item in items)

    def clear(self):
        self.items = []


def discount(amount, rate):
    """What is left to pay."""
    return amount * (1 - rate)


def shipping(weight):
    return 3 + weight
'''
CHECKOUT = "from shop.cart import discount\n\n\ndef pay(amount):\n    return discount(amount, 0.1)\n"
BANK = "def discount(bill):\n    return bill\n\n\ndef settle(bill):\n    return discount(bill)\n"
TEST = "from shop.cart import discount\n\n\ndef test_ten_percent():\n    assert discount(100, 0.1) == 90\n"
SHOP = {
    "shop/cart.py": CART,
    "shop/checkout.py": CHECKOUT,
    "bank/bills.py": BANK,
    "tests/test_cart.py": TEST,
    "README.md": "# Shop\n\nSells things.\n",
}
NEW_CART = CART.replace("amount * (1 - rate)", "max(0, amount - amount * rate)")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return git_repo(tmp_path / "shop", SHOP)


def review(
    root: Path, change: str = "HEAD~1..HEAD", *, query: str = "", budget: int = 4000, **filters: Any
) -> Pack:
    with make_engine(root) as engine:
        engine.ensure_fresh()
        return engine.review(
            change,
            query=query,
            render=plugins.load("renderer", "context").render,
            tokenizer="chars4",
            budget_tokens=budget,
            filters=Filters(**filters),
        )


def with_reason(pack: Pack, reason: str) -> list[Item]:
    return [item for item in pack.items if reason in item.reasons]


def symbols(pack: Pack, reason: str) -> list[str]:
    return [item.symbol for item in with_reason(pack, reason)]


def said(pack: Pack) -> str:
    return "\n".join(pack.hints)


def test_a_changed_definition_comes_first_and_whole(root: Path) -> None:
    git_repo(root, {"shop/cart.py": NEW_CART, "README.md": "# Shop\n\nSells more.\n"})
    first = review(root).items[0]
    assert (first.symbol, first.section, first.ref) == (
        "discount",
        Section.DEFINITIONS,
        git(root, "rev-parse", "HEAD").strip(),
    )
    assert first.content.startswith("def discount") and "max(0" in first.content


def test_of_an_edited_line_only_the_old_line_is_cited_at_the_old_commit(root: Path) -> None:
    old = git(root, "rev-parse", "HEAD").strip()
    git_repo(root, {"shop/cart.py": NEW_CART})
    (removed,) = with_reason(review(root), "removed")
    assert (removed.content, removed.ref) == ("    return amount * (1 - rate)\n", old)
    assert removed.relationship == ("removed",)


def test_lines_that_only_moved_to_the_side_are_not_removed(root: Path) -> None:
    body = "    if rate:\n        return amount * (1 - rate)\n    return amount\n"
    git_repo(root, {"shop/cart.py": CART.replace("    return amount * (1 - rate)\n", body)})
    pack = review(root)
    assert symbols(pack, "changed") == ["discount"] and not with_reason(pack, "removed")


def test_callers_and_tests_of_what_was_touched_are_shown(root: Path) -> None:
    git_repo(root, {"shop/cart.py": NEW_CART})
    pack = review(root)
    assert symbols(pack, "calls") == ["pay"] and symbols(pack, "tested_by") == ["test_ten_percent"]
    assert pack.of_section(Section.KEY_USAGES)[0].path == "shop/checkout.py"


def test_who_calls_a_namesake_is_not_shown(root: Path) -> None:
    git_repo(root, {"shop/bills.py": BANK})
    git_repo(root, {"shop/cart.py": NEW_CART})
    assert not {"bank/bills.py", "shop/bills.py"} & {item.path for item in review(root).items}


def test_a_test_in_the_file_named_after_the_module_counts_by_its_name(root: Path) -> None:
    tests = "from helpers import call\n\n\ndef test_free_shipping_cost():\n    assert call() == 3\n"
    named = {"shop/fees.py": "def shipping_cost(weight):\n    return 3\n", "tests/test_fees.py": tests}
    git_repo(root, named)
    git_repo(root, {"shop/fees.py": "def shipping_cost(weight):\n    return 4\n"})
    pack = review(root)
    assert symbols(pack, "tested_by") == ["test_free_shipping_cost"] and "no test" not in said(pack)


def test_a_changed_name_that_no_test_speaks_of_is_said(root: Path) -> None:
    git_repo(root, {"shop/cart.py": CART.replace("3 + weight", "4 + weight")})
    assert "no test in the index speaks of shipping" in review(root).hints


def test_a_removed_definition_is_shown_without_its_neighbours(root: Path) -> None:
    git_repo(
        root, {"shop/cart.py": CART.replace(CART[CART.index("def discount") : CART.index("def ship")], "")}
    )
    pack = review(root)
    assert symbols(pack, "removed") == ["discount"] and not with_reason(pack, "changed")


def test_who_still_uses_a_name_that_is_gone_is_shown_and_said(root: Path) -> None:
    git_repo(root, {"shop/cart.py": CART.replace("def discount", "def reduced"), "bank/bills.py": "x = 1\n"})
    pack = review(root)
    assert "pay" in symbols(pack, "discount")
    assert "defined no more but still used: discount" in pack.hints


def test_a_deleted_file_is_cited_at_the_old_commit_and_named(root: Path) -> None:
    old = git(root, "rev-parse", "HEAD").strip()
    (root / "shop/checkout.py").unlink()
    git_repo(root, {})
    pack = review(root)
    assert [(item.path, item.ref) for item in with_reason(pack, "removed")] == [("shop/checkout.py", old)]
    assert "deleted: shop/checkout.py (5 lines)" in pack.hints


def test_a_rename_is_said_and_its_edit_is_shown_on_both_sides(root: Path) -> None:
    git(root, "mv", "shop/cart.py", "shop/basket.py")
    git_repo(root, {"shop/basket.py": NEW_CART})
    pack = review(root)
    assert "renamed: shop/cart.py to shop/basket.py" in pack.hints
    assert [item.path for item in with_reason(pack, "renamed")] == ["shop/basket.py"]
    assert [item.path for item in with_reason(pack, "removed")] == ["shop/cart.py"]


def test_what_is_not_indexed_is_named_and_never_shown(root: Path) -> None:
    git_repo(root, {"logo.png": b"\x89PNG\0\0", ".env": "PASSWORD=correct-horse\n", "a.txt": "one\n"})
    pack = review(root)
    assert {item.path for item in pack.items} == {"a.txt"}
    assert "2 changed files not in the index: .env (sensitive), logo.png (binary)" in pack.hints


def test_a_deleted_secret_is_not_cited_at_the_commit_that_had_it(root: Path) -> None:
    git_repo(root, {".env": "PASSWORD=correct-horse\n", "credentials.json": '{"key": "battery-staple"}\n'})
    git(root, "rm", "-q", ".env", "credentials.json")
    git_repo(root, {})
    pack = review(root)
    assert not pack.items and "deleted: .env" in said(pack)


def test_a_lock_file_takes_little_of_the_pack(root: Path) -> None:
    locked = "\n".join(f'[[package]]\nname = "p{n}"\nversion = "1.{n}"\n' for n in range(400))
    git_repo(root, {"uv.lock": locked})
    git_repo(root, {"uv.lock": locked.replace('"1.', '"2.'), "shop/cart.py": NEW_CART})
    pack = review(root)
    assert pack.items[0].symbol == "discount"
    assert 1 <= sum(item.path == "uv.lock" for item in pack.items) <= 3 and pack.counts.dropped["cap"] > 0


@pytest.mark.parametrize(
    ("change", "filters", "hint"),
    [
        ("HEAD..HEAD", {}, "nothing is changed here"),
        ("", {}, "nothing is changed here"),
        ("HEAD~1..HEAD", {"path_prefix": "bank"}, "the filters leave out all 1 changed file"),
    ],
)
def test_an_empty_review_says_why(root: Path, change: str, filters: dict[str, Any], hint: str) -> None:
    git_repo(root, {"shop/cart.py": NEW_CART})
    pack = review(root, change, **filters)
    assert not pack.items and pack.hints == (hint,)


def test_filters_apply_to_the_change_and_to_what_belongs_to_it(root: Path) -> None:
    git_repo(root, {"shop/cart.py": NEW_CART, "bank/bills.py": BANK + "\nx = 1\n"})
    pack = review(root, exclude_paths=("tests", "bank"))
    assert {item.path for item in pack.items} == {"shop/cart.py", "shop/checkout.py"}
    assert "the filters leave out 1 changed file" in pack.hints


def test_of_a_long_definition_the_changed_lines_are_shown(root: Path) -> None:
    lines = [
        f"    step_{number} = prepare({number}, 'a longer text to fill the line')\n" for number in range(400)
    ]
    git_repo(root, {"shop/long.py": "def long():\n" + "".join(lines)})
    lines[200] = "    step_200 = None\n"
    git_repo(root, {"shop/long.py": "def long():\n" + "".join(lines)})
    (item,) = with_reason(review(root), "changed")
    assert (item.symbol, item.start_line, item.end_line) == ("long", 199, 205)


def test_a_changed_import_does_not_show_all_of_them(root: Path) -> None:
    imports = [f"import module_{number}\n" for number in range(60)]
    git_repo(root, {"shop/many.py": "".join(imports)})
    git_repo(root, {"shop/many.py": "".join([*imports[:30], "import another\n", *imports[31:]])})
    (item,) = with_reason(review(root), "changed")
    assert item.end_line - item.start_line == 6 and "import another" in item.content


def test_a_new_definition_too_large_for_the_budget_is_shown_in_part(root: Path) -> None:
    body = "".join(f"    call_number({number}, 'some argument of this call')\n" for number in range(500))
    git_repo(root, {"shop/large.py": f"def large():\n{body}"})
    assert with_reason(review(root, budget=2000), "added")[0].start_line == 1


def test_overloads_are_definitions_of_their_own_and_no_callers_of_themselves(root: Path) -> None:
    filler = "".join(f"    name_{number} = {number}\n" for number in range(40))
    code = (
        "def parse(a): ...\n\n\ndef parse(b): ...\n\n\ndef parse(c):\n{}" + filler + "    return parse(c)\n"
    )
    git_repo(root, {"shop/parse.py": code.format("")})
    pack = review(git_repo(root, {"shop/parse.py": code.format("    first = 0\n")}))
    (item,) = with_reason(pack, "changed")
    assert (item.start_line, item.end_line) == (7, 49) and not with_reason(pack, "calls")


def test_a_name_that_only_the_change_itself_uses_is_not_left_over(root: Path) -> None:
    code = CART.replace("def discount(amount, rate):", "def reduced(amount, page):").replace(
        "amount * (1 - rate)", "page.discount(amount)"
    )
    rest = {"bank/bills.py": "x = 1\n", "shop/checkout.py": "y = 1\n", "tests/test_cart.py": "z = 1\n"}
    assert "still used" not in said(review(git_repo(root, rest | {"shop/cart.py": code})))


def test_tests_beside_what_they_test_are_tests(root: Path) -> None:
    rust = (
        "fn add(a: u8) -> u8 {\n    a\n}\n\nmod tests {\n    fn adds() {\n        super::add(1);\n    }\n}\n"
    )
    git_repo(root, {"src/lib.rs": rust})
    pack = review(git_repo(root, {"src/lib.rs": rust.replace("    a\n", "    a + 1\n")}))
    assert [item.section for item in with_reason(pack, "tested_by")] == [Section.TESTS]


def test_the_budget_that_is_proposed_holds_everything(root: Path) -> None:
    large_change(root, 30)
    hint = next(hint for hint in review(root, budget=700).hints if "--budget-tokens" in hint)
    wanted = int(hint.partition("--budget-tokens ")[2].partition(" ")[0])
    assert review(root, budget=wanted).counts.all_dropped == 0


def large_change(root: Path, count: int = 120) -> Path:
    first = {f"shop/part_{n:03}.py": f"def part_{n}(value):\n    return value\n" for n in range(count)}
    more = {f"docs/page_{n:03}.md": f"# Page {n}\n\nText.\n" for n in range(20)}
    git_repo(root, first | more | {"tests/test_part_001.py": "def test_it():\n    assert 1\n"})
    changed = {
        path: text.replace("return value", f"return value + {path[10:13]}0") for path, text in first.items()
    }
    pages = {path: text.replace("Text", "Words") for path, text in more.items()}
    return git_repo(root, changed | pages | {"tests/test_part_001.py": "def test_it():\n    assert 2\n"})


def test_of_a_large_change_code_comes_first_and_the_counts_add_up(root: Path) -> None:
    pack = review(large_change(root), budget=2500)
    counts = pack.counts
    assert {item.section for item in with_reason(pack, "changed")} == {Section.DEFINITIONS}
    assert counts.selected + counts.all_dropped == counts.candidates and counts.selected == len(pack.items)
    shown = {item.path for item in pack.items}
    assert f"{141 - len(shown)} of 141 changed files are not shown" in said(pack)


def test_a_file_that_is_shown_in_part_is_not_called_missing(root: Path) -> None:
    code = "\n\n".join(f"def call_{n}(value):\n    return value * {n} + {n}\n" for n in range(60))
    git_repo(root, {"shop/many.py": code})
    pack = review(root, budget=700)
    assert pack.items and pack.counts.dropped and "not shown" not in said(pack)


def test_the_same_edit_in_many_files_comes_after_the_others(root: Path) -> None:
    old = {f"app/a{n:02}.py": f"def call_{n}():\n    return old_name({n})\n" for n in range(40)}
    git_repo(root, old | {"shop/z.py": "def telling():\n    return 1\n"})
    new = {path: text.replace("old_name", "new_name") for path, text in old.items()}
    pack = review(git_repo(root, new | {"shop/z.py": "def telling():\n    return 2\n"}), budget=900)
    assert "telling" in symbols(pack, "changed")
    assert "39 files changed in the same way" in said(pack)


def test_what_answers_the_question_comes_first(root: Path) -> None:
    cache = "class PriceCache:\n    def invalidate(self):\n        self.prices = {}\n"
    git_repo(root, {"zoo/cache.py": cache})
    git_repo(root, {"zoo/cache.py": cache.replace("{}", "None"), "shop/cart.py": NEW_CART})
    asked = review(root, query="is the price cache still invalidated")
    assert review(root).items[0].path == "shop/cart.py" and asked.items[0].path == "zoo/cache.py"


def test_everything_in_the_first_commit_is_new(root: Path) -> None:
    pack = review(root, "HEAD~1..HEAD")
    assert {item.path for item in with_reason(pack, "added")} == set(SHOP)
    assert not with_reason(pack, "removed")


def test_a_merge_is_reviewed_against_its_first_parent(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "side")
    git_repo(root, {"shop/cart.py": NEW_CART})
    git(root, "checkout", "-q", "main")
    git_repo(root, {"bank/bills.py": BANK + "\nx = 1\n"})
    git(root, "merge", "-q", "--no-ff", "-m", "m", "side")
    assert {item.path for item in with_reason(review(root), "changed")} == {"shop/cart.py"}


def test_staged_and_changed_see_what_they_say(root: Path) -> None:
    make_tree(root, {"shop/cart.py": NEW_CART})
    git(root, "add", "-A")
    make_tree(root, {"bank/bills.py": BANK + "\nx = 1\n", "shop/fresh.py": "def fresh():\n    return 1\n"})
    staged, changed = review(root, "--staged"), review(root, "")
    assert {item.path for item in with_reason(staged, "changed")} == {
        "shop/cart.py"
    } and staged.ref == "staged"
    assert {item.path for item in with_reason(changed, "changed")} == {
        "shop/cart.py",
        "bank/bills.py",
        "shop/fresh.py",
    }


def test_a_sub_folder_reviews_only_itself(root: Path) -> None:
    git_repo(root, {"shop/__init__.py": "", "shop/cart.py": NEW_CART, "bank/bills.py": BANK + "\nx = 1\n"})
    pack = review(root / "shop")
    assert {item.path for item in pack.items} == {"cart.py", "checkout.py"}


@pytest.mark.parametrize("budget", [150, 300, 700, 4000])
def test_items_are_exact_do_not_overlap_and_fit(root: Path, budget: int) -> None:
    git_repo(root, {"shop/cart.py": NEW_CART.replace("3 + weight", "4"), "bank/bills.py": BANK + "\nx = 1\n"})
    git_repo(root, {"shop/checkout.py": CHECKOUT.replace("0.1", "0.2")})
    pack = review(root, "HEAD~2..HEAD", budget=budget)
    taken: set[tuple[str, str, int]] = set()
    for item in pack.items:
        lines = split_lines(git(root, "show", f"{item.ref}:{item.path}"))
        assert item.content == "".join(lines[item.start_line - 1 : item.end_line])
        own = {(item.ref, item.path, line) for line in range(item.start_line, item.end_line + 1)}
        assert not taken & own
        taken |= own
    assert pack.budget.used_tokens + pack.budget.headroom_tokens <= budget


def test_the_same_change_gives_the_same_pack_whatever_the_index_saw_before(
    root: Path, tmp_path: Path
) -> None:
    git_repo(root, {"shop/cart.py": NEW_CART})
    first = review(root)
    make_tree(root, {"shop/later.py": "def later():\n    return discount\n"})
    review(root, "")
    fresh = tmp_path / "fresh"
    git(tmp_path, "clone", "-q", str(root), str(fresh))
    assert review(root) == first == review(fresh)


@pytest.mark.parametrize("change", ["HEAD~1..HEAD", "HEAD~1", "--staged", ""])
def test_a_changed_link_and_a_changed_submodule_are_said(root: Path, change: str) -> None:
    (root / "link").symlink_to("shop/cart.py")
    inner = git_repo(root / "module", {"a.py": "x = 1\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "with a submodule")
    (root / "link").unlink()
    (root / "link").symlink_to("shop/bank.py")
    git_repo(inner, {"a.py": "x = 2\n"})
    if change:
        git(root, "add", "-A")
    if change.startswith("HEAD"):
        git(root, "commit", "-q", "-m", "other ones")
    assert review(root, change).hints == ("changed, but no file: link (link), module (submodule)",)


def test_a_link_that_leads_where_it_led_is_not_changed(root: Path) -> None:
    (root / "link").symlink_to("shop/cart.py")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "with a link")
    (root / "link").unlink()
    (root / "link").symlink_to("shop/cart.py")
    assert review(root, "").hints == ("nothing is changed here",)
