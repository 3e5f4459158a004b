"""An engine that has seen many generations answers as one that sees the last for the first time."""

from __future__ import annotations

from pathlib import Path

from builders import SHOP, make_tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from satchel import Engine
from satchel.plugins import load
from satchel.retrieval.code_graph import file_uses

NAMES = ("src/money.py", "src/basket.py", "README.md", "src/new.py", "docs/new.md", "src/empty.py")
TEXTS = (
    "",
    "\n\n",
    "def add_money(basket: int) -> int:\n    return basket\n",
    "class Basket:\n    def total(self) -> int:\n        return add_money(1)\n",
    "# Basket\n\nMoney is added to a basket.\n",
)
EDITS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from((*TEXTS, None))), min_size=1, max_size=6)


def answers(engine: Engine) -> list[object]:
    found = [engine.search(query, 20) for query in ("basket total", "add_money", "where is money added")]
    pack = load("renderer", "context").render(
        engine.pack("how is money added to a basket", budget_tokens=800)
    )
    return [*found, pack, [(record.path, record.file_hash) for record in engine.snapshot().files()]]


def apply(root: Path, name: str, text: str | None) -> None:
    path = root / name
    path.parent.mkdir(exist_ok=True)
    if text is None:
        path.unlink(missing_ok=True)
    else:
        path.write_text(text)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS)
def test_edits_leave_no_trace_in_answers(tmp_path_factory, edits) -> None:  # type: ignore[no-untyped-def]
    root = make_tree(tmp_path_factory.mktemp("shop"), SHOP)
    with Engine.open(root) as old, Engine.open(root) as writer:
        old.ensure_fresh()
        answers(old)
        for name, text in edits:
            apply(root, name, text)
            writer.refresh(paths=[name])
            answers(old)
        with Engine.open(root) as fresh:
            assert answers(old) == answers(fresh)


def test_a_rebuilt_index_shares_nothing_with_the_one_before(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    with Engine.open(root) as old, Engine.open(root) as writer:
        old.ensure_fresh()
        answers(old)
        apply(root, "src/basket.py", TEXTS[3])
        writer.refresh(force=True)
        with Engine.open(root) as fresh:
            assert answers(old) == answers(fresh)


def test_a_search_keeps_no_generation_alive(tmp_path: Path) -> None:
    import gc

    from satchel.storage.sqlite_reader import SqliteSnapshot

    root = make_tree(tmp_path, SHOP)
    with Engine.open(root) as engine, Engine.open(root) as writer:
        engine.ensure_fresh()
        for number in range(5):
            apply(root, "src/new.py", f"NUMBER = {number}\n")
            writer.refresh(paths=["src/new.py"])
            answers(engine)
        gc.collect()
        alive = [item for item in gc.get_objects() if isinstance(item, SqliteSnapshot)]
        assert len([item for item in alive if item is engine._snapshot]) == 1 and len(alive) <= 2


def test_uses_of_an_unchanged_file_follow_the_files_that_it_imports(tmp_path: Path) -> None:
    files = {"a.py": "def run():\n    pass\n", "b.py": "def run():\n    pass\n"}
    root = make_tree(tmp_path, {**files, "use.py": "from a import run\n\nrun()\n"})
    with Engine.open(root) as old, Engine.open(root) as writer:
        old.ensure_fresh()
        assert {use.target.path for use in file_uses(old.corpus(), "use.py").uses} == {"a.py"}
        (root / "a.py").write_text("from b import run\n")
        writer.refresh(paths=["a.py"])
        assert {use.target.path for use in file_uses(old.corpus(), "use.py").uses} == {"b.py"}


def test_what_is_known_of_unchanged_files_is_kept_after_an_edit(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    with Engine.open(root) as engine, Engine.open(root) as writer:
        engine.ensure_fresh()
        engine.search("money is added to a basket total")
        before = engine.corpus()
        at = before.position_of["src/basket.py"]
        ends = {path: before.file_cache.line_ends[path] for path in before.file_cache.line_ends}
        ((row, known),) = before.file_cache.numbers.items()
        held = {place: numbers.tolist() for place, numbers in known.items()}
        assert at in held and "src/basket.py" in ends and len(ends) > 1
        apply(root, "src/basket.py", TEXTS[3])
        writer.refresh(paths=["src/basket.py"])
        after = engine.corpus().file_cache
        del held[at]
        assert {place: numbers.tolist() for place, numbers in after.numbers[row].items()} == held
        assert {path: after.line_ends.get(path) is array for path, array in ends.items()} == {
            path: path != "src/basket.py" for path in ends
        }
