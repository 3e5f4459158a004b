"""The past in the index: read when the head differs, never twice, the same bytes whatever happened before."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, age, git, git_repo, make_engine, make_tree, memory_engine, run_cli

from satchel.engine import Engine
from satchel.indexing.plan import HISTORY_HEAD
from satchel.storage.history import unpack_history
from satchel.storage.memory import MemoryStore
from satchel.walking import history
from satchel.walking.git_trees import GitTree

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = age(git_repo(tmp_path / "shop", SHOP))
    change(root, "src/money.py", "Round the money up")
    return root


def change(root: Path, path: str, message: str) -> None:
    (root / path).write_text((root / path).read_text() + "\n# more\n")
    git(root, "commit", "-q", "-a", "-m", message)
    age(root)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The refs whose history was read."""
    asked: list[str] = []
    real = history.read_history

    def counted(root: Path, ref: str) -> object:
        asked.append(ref)
        return real(root, ref)

    monkeypatch.setattr(history, "read_history", counted)
    return asked


def paths_of(engine: Engine) -> tuple[str, ...]:
    return unpack_history(engine.snapshot().history()).paths


def test_the_index_keeps_the_past_and_where_it_ends(shop: Path) -> None:
    engine = memory_engine(shop)
    assert engine.snapshot().meta()[HISTORY_HEAD] == git(shop, "rev-parse", "HEAD").strip()
    assert paths_of(engine) == ("src/money.py",)


def test_the_same_head_is_read_once(shop: Path, reads: list[str]) -> None:
    engine = memory_engine(shop)
    make_tree(shop, {"src/new.py": "x = 1\n"})
    engine.refresh()
    engine.refresh(paths=["src/new.py"])
    engine.ensure_fresh()
    assert len(reads) == 1


def test_a_refresh_of_single_paths_reads_no_history_even_when_the_head_moved(
    shop: Path, reads: list[str]
) -> None:
    engine = memory_engine(shop)
    change(shop, "src/basket.py", "Mend the basket")
    engine.refresh(paths=["src/basket.py"])
    engine.refresh(paths=[])
    assert len(reads) == 1 and paths_of(engine) == ("src/money.py",)


def test_a_question_after_a_commit_knows_of_it_although_no_file_changed(shop: Path) -> None:
    (shop / "src/basket.py").write_text("x = 1\n")
    age(shop)
    engine = memory_engine(shop)
    git(shop, "commit", "-q", "-a", "-m", "Mend the basket")
    engine.ensure_fresh()
    assert paths_of(engine) == ("src/basket.py", "src/money.py")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_an_index_of_any_age_keeps_the_same_bytes(shop: Path, kind: str) -> None:
    engine = make_engine(shop, MemoryStore() if kind == "memory" else None)
    engine.refresh()
    change(shop, "src/basket.py", "Mend the basket")
    engine.refresh()
    git(shop, "mv", "src/till.go", "src/drawer.go")
    git(shop, "commit", "-q", "-m", "Call it a drawer")
    engine.refresh()
    assert engine.snapshot().history() == memory_engine(shop).snapshot().history() != b""


def test_the_bytes_do_not_depend_on_the_process(shop: Path, tmp_path: Path) -> None:
    change(shop, "src/basket.py", "Mend the basket: money, till, drawer and guide")
    kept = set()
    for seed in ("0", "1"):
        place = tmp_path / seed
        done = run_cli("index", "--segment", shop, "--index-dir", place, environment={"PYTHONHASHSEED": seed})
        assert done.returncode == 0, done.stderr
        kept.add(make_engine(shop, index_dir=place).snapshot().history())
    assert len(kept) == 1 and kept != {b""}


def test_a_forced_refresh_reads_the_past_again(shop: Path, reads: list[str]) -> None:
    engine = memory_engine(shop)
    engine.refresh(force=True)
    assert len(reads) == 2 and paths_of(engine) == ("src/money.py",)


def test_a_repository_that_is_none_any_more_has_no_past(shop: Path) -> None:
    engine = memory_engine(shop)
    (shop / ".git").rename(shop.parent / "gone")
    engine.ensure_fresh()
    assert engine.snapshot().history() == b"" and engine.snapshot().meta()[HISTORY_HEAD] == ""


def test_the_tree_of_a_ref_has_the_past_of_that_ref(shop: Path) -> None:
    change(shop, "src/basket.py", "Mend the basket")
    present = memory_engine(shop)
    past = Engine(shop, MemoryStore(), present.options, GitTree(shop, "HEAD~1"))
    past.refresh()
    assert paths_of(past) == ("src/money.py",) and "src/basket.py" in paths_of(present)


def test_a_secret_in_a_message_is_nowhere_in_the_index(shop: Path) -> None:
    change(shop, "src/basket.py", f"Use {TOKEN} for the basket")
    engine = make_engine(shop)
    engine.refresh()
    found = unpack_history(engine.snapshot().history())
    assert "basket" in found.terms
    assert not [term for term in found.terms if TOKEN[4:12].lower() in term.lower()]
    assert TOKEN.encode() not in b"".join(path.read_bytes() for path in (shop / "_ctx").iterdir())


def test_a_folder_without_git_is_answered_without_a_past(tmp_path: Path) -> None:
    root = age(make_tree(tmp_path / "plain", SHOP))
    answers = [run_cli("search", "basket total price", "--segment", root, "--explain") for _ in range(2)]
    assert answers[0].returncode == 0 and answers[0].stdout == answers[1].stdout
    assert b"history" not in answers[0].stdout
    assert make_engine(root).snapshot().history() == b""
