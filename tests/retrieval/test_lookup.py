"""Ids: three spellings of a chunk, and what became of one that went stale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, make_engine, make_tree, memory_engine

from satchel import ids
from satchel.engine import Engine
from satchel.errors import ChunkNotFound
from satchel.retrieval.lookup import Fate, LookupResult
from satchel.storage.memory import MemoryStore
from satchel.storage.records import ChunkRecord


@pytest.fixture
def shop(tmp_path: Path) -> Engine:
    return memory_engine(make_tree(tmp_path / "shop", SHOP))


def chunk(engine: Engine, path: str, name: str) -> ChunkRecord:
    return next(item for item in engine.snapshot().chunks(path) if name in item.title_path)


def canonical(item: ChunkRecord) -> str:
    return ids.canonical_id(ids.doc_of(item.path), item.digest)


def look(engine: Engine, asked: str) -> LookupResult:
    return engine.find([asked])[0]


def test_three_spellings_name_the_same_chunk(shop: Engine) -> None:
    item = chunk(shop, "docs/guide.md", "Core rules")
    locator = f"docs/guide.md:{item.start_line}:{item.end_line}"
    for asked in (canonical(item), ids.long_id(item.digest), locator, f"  {locator}\n"):
        assert look(shop, asked).chunk == item and look(shop, asked).fate is Fate.CURRENT
    assert canonical(item).startswith("docs/guide:")


def test_any_span_of_lines_can_be_asked_for(shop: Engine) -> None:
    found = look(shop, "src/basket.py:9:10")
    assert found.fate is Fate.CURRENT and found.chunk is not None
    assert shop.text_of(found.chunk).startswith("    def add_item") and found.chunk.title_path == ("Basket",)


def test_a_span_over_several_chunks_is_cited_exactly(shop: Engine) -> None:
    found = look(shop, "README.md:1:9")
    assert found.chunk is not None
    assert shop.text_of(found.chunk) == "".join((shop.root / "README.md").read_text().splitlines(True)[:9])


@pytest.mark.parametrize("span", ["0:1", "2:1", "1:999", "999999999:999999999"])
def test_lines_that_do_not_exist_are_unknown_with_the_line_count(shop: Engine, span: str) -> None:
    found = look(shop, f"README.md:{span}")
    assert found.fate is Fate.UNKNOWN and "11 lines" in found.detail


@pytest.mark.parametrize("asked", ["blank.py:1:2", "blank.py"])
def test_a_blank_file_is_said_to_be_blank(tmp_path: Path, asked: str) -> None:
    engine = memory_engine(make_tree(tmp_path, {"blank.py": "\n\n\n"}))
    found = look(engine, asked)
    assert (found.fate, found.detail) == (Fate.UNKNOWN, "blank.py is blank")


@pytest.mark.parametrize(
    "asked", ["src/money.py:4-5", "src/money.py#L4-L5", "src\\money.py:4:5", "./src/money.py:4:5"]
)
def test_lines_are_found_however_they_are_written(shop: Engine, asked: str) -> None:
    found = look(shop, asked)
    assert found.chunk is not None and found.holder is not None
    assert shop.text_of(found.chunk).startswith("def add_money") and found.holder.title_path == ("add_money",)


def test_a_line_alone_is_found(shop: Engine) -> None:
    found = look(shop, "src/money.py:1")
    assert found.chunk is not None and shop.text_of(found.chunk) == "RATE = 2\n"


@pytest.mark.parametrize("asked", ["docs/guide.md", "docs/guide", "docs\\guide.md"])
def test_a_path_alone_is_the_whole_file(shop: Engine, asked: str) -> None:
    found = look(shop, asked)
    assert found.chunk is not None and found.holder is None and found.chunk.kind == "file"
    assert shop.text_of(found.chunk) == SHOP["docs/guide.md"]


def test_a_file_that_is_one_chunk_is_that_chunk(shop: Engine) -> None:
    assert look(shop, "config.toml").chunk == shop.snapshot().chunks("config.toml")[0]


def test_a_long_file_is_not_given_whole_but_its_lines_are(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"long.txt": "word\n" * 2001}))
    found = look(engine, "long.txt")
    assert found.fate is Fate.TOO_LONG and "2001 lines" in found.detail and "long.txt:1:2000" in found.detail
    assert look(engine, "long.txt:1:2000").fate is Fate.CURRENT


def test_a_file_whose_name_looks_like_lines_is_found_unless_the_lines_exist(tmp_path: Path) -> None:
    engine = memory_engine(
        make_tree(tmp_path, {"a.txt": "one\ntwo\n", "a.txt:1:2": "odd\n", "bb:7": "odd\n"})
    )
    paths = [getattr(look(engine, asked).chunk, "path", "") for asked in ("a.txt:1:2", "bb:7", "a.txt:1:2:1")]
    assert paths == ["a.txt", "bb:7", "a.txt:1:2"]


def test_an_edited_chunk_has_changed_and_its_new_id_is_given(shop: Engine) -> None:
    old = chunk(shop, "docs/guide.md", "Core rules")
    make_tree(shop.root, {"docs/guide.md": "# Guide\n\nNew.\n\n## Core rules\n\nPay last.\n"})
    shop.refresh()
    for asked in (canonical(old), ids.long_id(old.digest)):
        found = look(shop, asked)
        assert found.fate is Fate.CHANGED and found.chunk is not None
        assert shop.text_of(found.chunk) == "## Core rules\n\nPay last.\n" and "Core rules" in found.detail


def test_a_chunk_of_a_renamed_file_has_moved(shop: Engine) -> None:
    old = chunk(shop, "src/basket.py", "Basket")
    (shop.root / "src/basket.py").rename(shop.root / "src/trolley.py")
    shop.refresh()
    found = look(shop, canonical(old))
    assert found.fate is Fate.MOVED and found.chunk is not None
    assert (found.chunk.path, found.chunk.title_path) == ("src/trolley.py", old.title_path)


def test_lines_of_a_renamed_file_have_moved(shop: Engine) -> None:
    (shop.root / "src/basket.py").rename(shop.root / "src/trolley.py")
    shop.refresh()
    found = look(shop, "src/basket.py:9-10")
    assert found.fate is Fate.MOVED and found.detail == "src/basket.py is now src/trolley.py"
    assert found.chunk is not None and shop.text_of(found.chunk).startswith("    def add_item")


def test_of_several_copies_of_a_renamed_file_the_first_path_is_given(shop: Engine) -> None:
    old = canonical(chunk(shop, "src/basket.py", "Basket"))
    copies = {f"src/{name}.py": SHOP["src/basket.py"] for name in ("trolley", "alpha", "cart")}
    make_tree(shop.root, copies)
    (shop.root / "src/basket.py").unlink()
    shop.refresh()
    found = [look(shop, asked).chunk for asked in (old, "src/basket.py:9")]
    assert [item.path for item in found if item] == ["src/alpha.py"] * 2


_PLAIN = "def start():\n    return 1\n\n\ndef stop():\n    return 2\n"


@pytest.mark.parametrize("store", [MemoryStore, lambda: None], ids=["memory", "sqlite"])
def test_a_path_that_still_has_a_file_became_no_other(tmp_path: Path, store: Callable[[], Any]) -> None:
    engine = make_engine(make_tree(tmp_path, {"a.py": _PLAIN, "b.py": _PLAIN}), store())
    engine.refresh()
    asked = canonical(chunk(engine, "a.py", "start"))
    make_tree(tmp_path, {"a.py": _PLAIN.replace("start", "begin")})
    engine.refresh()
    found = look(engine, asked)
    assert (found.fate, found.chunk) == (Fate.GONE, None) and "a.py no longer has 'start'" in found.detail


@pytest.mark.parametrize("store", [MemoryStore, lambda: None], ids=["memory", "sqlite"])
def test_only_the_last_version_of_a_path_tells_what_it_became(
    tmp_path: Path, store: Callable[[], Any]
) -> None:
    engine = make_engine(make_tree(tmp_path, {"a.py": _PLAIN, "b.py": _PLAIN}), store())
    engine.refresh()
    asked = [canonical(chunk(engine, "a.py", name)) for name in ("start", "stop")]
    for body in ("return 3", "return 4", "return 5"):  # whichever digest comes first
        make_tree(tmp_path, {"a.py": _PLAIN.replace("return 1", body)})
        engine.refresh()
    (tmp_path / "a.py").rename(tmp_path / "c.py")
    engine.refresh()
    found = [look(engine, one) for one in (*asked, "a.py:1:3")]
    assert [(one.fate, one.chunk.path) for one in found if one.chunk] == [(Fate.MOVED, "c.py")] * 3


def test_lines_of_a_file_that_was_renamed_and_edited_are_unknown(shop: Engine) -> None:
    (shop.root / "src/basket.py").unlink()
    make_tree(shop.root, {"src/trolley.py": "class Trolley:\n    pass\n"})
    shop.refresh()
    assert look(shop, "src/basket.py:9-10").fate is Fate.UNKNOWN


def test_a_chunk_of_a_deleted_file_is_gone(shop: Engine) -> None:
    old = chunk(shop, "docs/guide.md", "Core rules")
    (shop.root / "docs/guide.md").unlink()
    shop.refresh()
    found = look(shop, canonical(old))
    assert found.fate is Fate.GONE and found.chunk is None and "docs/guide.md" in found.detail


def test_a_deleted_section_is_gone(shop: Engine) -> None:
    old = chunk(shop, "docs/guide.md", "Core rules")
    make_tree(shop.root, {"docs/guide.md": "# Guide\n\nNothing else.\n"})
    shop.refresh()
    found = look(shop, canonical(old))
    assert found.fate is Fate.GONE and "Core rules" in found.detail


def test_an_id_that_came_back_is_current_again(shop: Engine) -> None:
    old = chunk(shop, "docs/guide.md", "Core rules")
    make_tree(shop.root, {"docs/guide.md": "# Guide\n"})
    shop.refresh()
    make_tree(shop.root, {"docs/guide.md": SHOP["docs/guide.md"]})
    shop.refresh()
    assert look(shop, canonical(old)).fate is Fate.CURRENT


_TWINS = "# Guide\n\n## Use\ntwo\n\n## Use\nthree\n"


def twin(engine: Engine, text: str) -> str:
    found = (item for item in engine.snapshot().chunks("a.md") if text in engine.text_of(item))
    return canonical(next(found))


def after_edits(folder: Path, text: str, *edits: str) -> LookupResult:
    """What becomes of the id of the section with this text."""
    engine = memory_engine(make_tree(folder, {"a.md": _TWINS}))
    asked = twin(engine, text)
    for edit in edits:
        make_tree(folder, {"a.md": edit})
        engine.refresh()
    return look(engine, asked)


@pytest.mark.parametrize(
    "edits",
    [
        ["# Guide\n\n## Use\ntwo\n\n## Use\nTHREE\n"],
        ["# Guide\n\n## Use\nzero\n\n## Use\ntwo\n\n## Use\nTHREE\n"],
        ["# Guide\n\n## Use\ntwo\n\n## Use\nTHREE\n", "# Guide\n\n## Use\nTWO\n\n## Use\nTHREE\n\nmore\n"],
    ],
)
def test_an_edited_section_is_never_taken_for_another_of_its_title(tmp_path: Path, edits: list[str]) -> None:
    found = after_edits(tmp_path, "three", *edits)
    assert found.fate is Fate.CHANGED and found.chunk is not None
    assert found.chunk.start_line == edits[-1][: edits[-1].index("## Use\nTHREE")].count("\n") + 1


def test_one_of_several_sections_of_a_title_can_be_gone(tmp_path: Path) -> None:
    found = after_edits(tmp_path, "three", "# Guide\n\n## Use\ntwo\n")
    assert found.fate is Fate.GONE and found.chunk is None and "are now 1: a:" in found.detail


def test_code_between_definitions_is_followed_to_its_own_place(tmp_path: Path) -> None:
    text = "import os\n\n\ndef f():\n    return os\n\n\nprint('tail')\n"
    engine = memory_engine(make_tree(tmp_path, {"a.py": text}))
    tail = engine.snapshot().chunks("a.py")[-1]
    make_tree(tmp_path, {"a.py": text.replace("tail", "end")})
    engine.refresh()
    found = look(engine, canonical(tail)).chunk
    assert found is not None and found.start_line == tail.start_line == 8


def test_the_second_section_of_a_title_moves_with_its_file(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"a.md": _TWINS}))
    asked = twin(engine, "three")
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    engine.refresh()
    found = look(engine, asked)
    assert found.fate is Fate.MOVED and found.chunk is not None and found.chunk.start_line == 6


def test_stale_ids_are_answered_after_a_rebuild_too(shop: Engine) -> None:
    old = chunk(shop, "docs/guide.md", "Core rules")
    make_tree(shop.root, {"docs/guide.md": "# Guide\n\n## Core rules\n\nPay last.\n"})
    shop.refresh(force=True)
    assert look(shop, canonical(old)).fate is Fate.CHANGED


@pytest.mark.parametrize(
    "asked",
    [
        "docs/guide:0000000000",
        "chunk_0000000000000000",
        "nowhere:0123456789",
        "nowhere.py:1:2",
        "nonsense",
        "",
    ]
    + ["chunk_", ":", "::", ":1:2", "a:b:c", "docs/guide:ABCDEF0123", "chunk_00000000", "\0", "x" * 5000],
)
def test_an_unknown_id_is_said_to_be_unknown(shop: Engine, asked: str) -> None:
    found = look(shop, asked)
    assert found.fate is Fate.UNKNOWN and found.chunk is None and found.detail


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "src/../../secret.md",
        "./../secret.md",
        "..\\secret.md",
        "/etc/passwd",
        "{outside}",
        "~/x.md",
    ],
)
def test_an_id_never_reads_outside_the_root(shop: Engine, path: str) -> None:
    outside = shop.root.parent / "secret.md"
    outside.write_text("# Secret\n\nhidden\n")
    path = path.format(outside=outside)
    for asked in (f"{path}:1:1", f"{path.removesuffix('.md')}:0123456789"):
        found = look(shop, asked)
        assert found.fate is Fate.UNKNOWN and found.chunk is None and "hidden" not in found.detail


def test_a_file_on_disk_that_is_not_indexed_can_not_be_asked_for(shop: Engine) -> None:
    make_tree(shop.root, {".env": "TOKEN=1\n", "late.md": "# Late\n"})
    assert look(shop, ".env:1:1").fate is look(shop, "late.md:1:1").fate is Fate.UNKNOWN


def test_a_file_that_was_left_out_is_said_to_be(shop: Engine) -> None:
    make_tree(shop.root, {".env": "TOKEN=1\n"})
    shop.refresh()
    assert look(shop, ".env:1:1").detail == ".env was left out of the index: sensitive"


def test_a_folder_is_said_to_be_one(shop: Engine) -> None:
    detail = look(shop, "src").detail
    assert detail == "src is a folder of 3 files: src/basket.py, src/money.py, src/till.go"


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("src/baskets.py:1:2", "src/basket.py, tests/test_basket.py"),
        ("lib/money.py", "src/money.py"),
        ("src/Money.py#L1", "src/money.py"),
        ("docs/giude.md:1:1", "docs/guide.md"),
    ],
)
def test_near_names_are_given_for_a_path_that_is_not_known(shop: Engine, asked: str, near: str) -> None:
    assert look(shop, asked).detail.endswith(f"not in the index; near it are {near}")


def test_no_name_is_given_for_a_path_that_is_like_no_other(shop: Engine) -> None:
    assert look(shop, "qqq/zzz.xyz:1:1").detail == "qqq/zzz.xyz is not in the index"


def test_the_path_most_like_the_asked_one_comes_first(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"a/money.py": "x = 1\n", "src/v1/money.py": "x = 2\n"}))
    assert look(engine, "src/v2/money.py:1").detail.endswith("near it are src/v1/money.py, a/money.py")


def test_at_most_three_near_names_are_given(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {f"{n}/setup.py": f"x = {n}\n" for n in range(9)}))
    assert look(engine, "setup.py:1").detail.count("/setup.py") == 3


def test_files_whose_names_hold_colons_can_be_asked_for(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"a:1:2.md": "# Odd\n", "b:12": "odd\n"}))
    for record in engine.snapshot().files():
        (item,) = engine.snapshot().chunks(record.path)
        assert look(engine, canonical(item)).chunk == item
        assert look(engine, f"{record.path}:1:1").chunk == item


def test_the_engine_gives_a_chunk_by_any_spelling_of_its_id(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, SHOP))
    hit = engine.search("add money")[0][0]
    locator = f"{hit.path}:{hit.start_line}:{hit.end_line}"
    assert [engine.get(asked).text for asked in (hit.id, hit.chunk_id, locator)] == [hit.text] * 3


def test_an_id_that_names_nothing_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(ChunkNotFound, match="names no chunk"):
        memory_engine(make_tree(tmp_path, SHOP)).get("README:0000000000")
