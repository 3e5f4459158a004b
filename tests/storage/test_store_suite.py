"""What every store promises, checked on each of them."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest
from builders import packed
from msgspec.structs import replace
from postgres_server import store_place

from satchel import plugins
from satchel.chunking import parse_source
from satchel.code_facts import FileEdges, FileFacts, Import, Rule, ScipUses, Target, TypedName, UseColumns
from satchel.errors import IndexBusy, IndexCorrupt, IndexMissing
from satchel.parsed import Parsed
from satchel.storage import open_store, postings, records
from satchel.storage.cross_uses import key_number
from satchel.storage.protocol import Extent, Snapshot, Store
from satchel.storage.records import FileRecord, Outline, PostingRun, RetiredChunk, SkippedRecord
from satchel.types import FileEntry, Label, Skipped, SkipReason

CODE = "import os\n\n\nclass Basket:\n    def total(self):\n        return os.sep\n"
LONG = "".join(f"def number_{number}():\n    return {number}\n\n\n" for number in range(40))
HASH = "ab" * 32
FACTS = FileFacts(
    "shop",
    (Import("np", "numpy", "", 1), Import("", "./effects", "", 2), Import("*", ".money", "*", 3)),
    (TypedName("Basket", "items", "[Item]"), TypedName("", "größe", "<int>")),
    (("Basket", "Container"),),
    (("Basket.total", "<Money>"),),
    UseColumns.of([("{Basket}.items[].price", Label.USES, (5, 9)), ("Money().add", Label.CALLS, (7,))]),
)
EDGES = FileEdges(
    (Target("src/item.py", "Item.price"), Target("src/größe.py")),
    ((0, 0, Rule.ATTRIBUTE), (1, 0, Rule.CONSTRUCTOR)),
    ((2, 1),),
)


@pytest.fixture(params=plugins.names("store"))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty store of each kind that there is."""
    return open_store(store_place(request.param, tmp_path / "_ctx"), lock_wait_seconds=0.2)


def put(store: Store, files: dict[str, str]) -> None:
    with store.write() as writer:
        for path, text in files.items():
            writer.put_file(*packed(path, text))


def put_with_facts(store: Store, path: str, facts: FileFacts = FACTS) -> None:
    """Put a file that says these facts, as chunking will say them."""
    record, file = packed(path, CODE)
    packed_facts = records.pack_file("", Parsed((), facts=facts), (), Outline(), 0).facts
    with store.write() as writer:
        writer.put_file(record, replace(file, facts=packed_facts))


def put_edges(store: Store, consulted: dict[str, Sequence[str]]) -> None:
    with store.write() as writer:
        for path, others in consulted.items():
            writer.put_edges(path, EDGES, others)


def paths(snapshot: Snapshot) -> list[str]:
    return [record.path for record in snapshot.files()]


def put_terms(store: Store, rows: Iterable[tuple[str, bytes]]) -> int:
    with store.write() as writer:
        number = writer.next_run()
        writer.put_run(_run(number, [(1, 1)]), rows)
    return number


def test_a_store_without_a_generation_is_missing(store: Store) -> None:
    assert not store.exists()
    with pytest.raises(IndexMissing):
        store.snapshot()


def test_a_file_comes_back_as_it_was_put(store: Store) -> None:
    record, file = packed("src/basket.py", CODE)
    put(store, {"src/basket.py": CODE})
    with closing(store.snapshot()) as snapshot:
        found = snapshot.file("src/basket.py")
        assert found is not None
        assert (found.file_hash, found.line_count, found.chunk_count) == (
            record.file_hash,
            6,
            len(file.chunks),
        )
        assert snapshot.text("src/basket.py") == CODE
        assert [chunk.digest for chunk in snapshot.chunks("src/basket.py")] == [row[6] for row in file.chunks]
        assert [item.qualified_name for item in snapshot.symbols("src/basket.py")] == [
            "Basket",
            "Basket.total",
        ]
        assert ("os", Label.IMPORTS, 1) in snapshot.references("src/basket.py")


def test_what_parsing_gave_can_be_read_again(store: Store) -> None:
    put(store, {"a.py": CODE})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.parsed("a.py") == parse_source(CODE, "python")


def test_all_fields_of_a_file_record_survive(store: Store) -> None:
    known = ("a.md", 4, -5, HASH, "markdown", "utf-8", 1, (1, 1), ("docs", "test"))
    with store.write() as writer:
        first_unit = writer.put_file(FileRecord(*known, settled=False), packed("a.md", "# A\n")[1])
    with closing(store.snapshot()) as snapshot:
        first_chunk = snapshot.chunks("a.md")[0].number
        assert snapshot.file("a.md") == FileRecord(*known, first_chunk, 1, first_unit, 1, False)


def test_files_are_listed_by_path(store: Store) -> None:
    put(store, {"b.md": "b\n", "a/z.md": "z\n", "Ä.md": "x\n", "a.md": "a\n", "B.md": "b\n"})
    with closing(store.snapshot()) as snapshot:
        assert paths(snapshot) == ["B.md", "a.md", "a/z.md", "b.md", "Ä.md"]


def test_files_that_were_forgotten_are_read_again(store: Store) -> None:
    put(store, {"b.md": "b\n", "a.md": "a\n"})
    with closing(store.snapshot()) as snapshot:
        known, text = snapshot.files(), snapshot.text("a.md")
        snapshot.forget_files()
        assert (snapshot.text("a.md"), snapshot.file("b.md"), snapshot.file("c.md")) == (text, known[1], None)
        assert snapshot.files() == known


def test_putting_a_file_again_replaces_it(store: Store) -> None:
    put(store, {"a.py": CODE})
    put(store, {"a.py": "def other():\n    pass\n"})
    with closing(store.snapshot()) as snapshot:
        assert [item.symbol.name for item in snapshot.all_symbols()] == ["other"]
        assert snapshot.symbol_count() == 1 and snapshot.symbols_named("Basket") == []
        assert sum(snapshot.kind_counts().values()) == len(snapshot.chunks("a.py")) == 1


def test_a_dropped_file_leaves_nothing_behind(store: Store) -> None:
    put(store, {"a.py": CODE, "b.md": "# B\n"})
    with store.write() as writer:
        writer.drop_file("a.py")
        writer.drop_file("never/there.py")
    with closing(store.snapshot()) as snapshot:
        assert paths(snapshot) == ["b.md"] and snapshot.chunks("a.py") == [] == snapshot.symbols("a.py")
        assert snapshot.file("a.py") is None and snapshot.kind_counts() == {"section": 1}
        with pytest.raises(KeyError):
            snapshot.text("a.py")


def test_touching_changes_the_time_alone(store: Store) -> None:
    put(store, {"a.py": CODE})
    with store.write() as writer:
        writer.touch_file(FileEntry("a.py", 6, 77, 88, 99), False)
    with closing(store.snapshot()) as snapshot:
        record = snapshot.file("a.py")
        assert record is not None and record.stamp[1:] == (77, 88, 99) and not record.settled
        assert snapshot.text("a.py") == CODE


def test_chunk_numbers_are_never_used_twice(store: Store) -> None:
    put(store, {"a.py": CODE})
    with closing(store.snapshot()) as snapshot:
        before = {chunk.number for chunk in snapshot.chunks("a.py")}
    with store.write() as writer:
        writer.clear()
    put(store, {"a.py": CODE})
    with closing(store.snapshot()) as snapshot:
        assert before.isdisjoint(chunk.number for chunk in snapshot.chunks("a.py"))


def test_units_are_numbered_file_by_file_and_never_twice(store: Store) -> None:
    with store.write() as writer:
        firsts = [writer.put_file(*packed(path, LONG)) for path in ("a.py", "b.py", "a.py")]
    with closing(store.snapshot()) as snapshot:
        counts = [record.unit_count for record in snapshot.files()]
        assert counts[0] == counts[1] > 1
        assert firsts[1] >= firsts[0] + counts[0] and firsts[2] >= firsts[1] + counts[1]
        assert [record.first_unit for record in snapshot.files()] == [firsts[2], firsts[1]]


def test_outlines_come_in_the_order_asked_with_the_vectors_of_their_units(store: Store) -> None:
    with store.write() as writer:
        for path, vectors in (("a.py", b"\1\2"), ("b.py", b"")):
            record, file = packed(path, CODE.replace("Basket", path[0].upper()))
            writer.put_file(record, replace(file, vectors=vectors))
    with closing(store.snapshot()) as snapshot:
        found = snapshot.outlines(["b.py", "a.py"])
        assert [(outline.types, vectors) for outline, vectors in found] == [(("B",), b""), (("A",), b"\1\2")]
        assert found[1][0].imports == ("os",) and snapshot.outlines([]) == []


def test_outlines_of_more_files_than_one_statement_takes_are_read(store: Store) -> None:
    put(store, {f"n{number}.py": f"def f{number}():\n    pass\n" for number in range(1200)})
    with closing(store.snapshot()) as snapshot:
        asked = paths(snapshot)[::-1]
        names = [outline.others[0] for outline, _ in snapshot.outlines(asked)]
        assert names == [path.replace("n", "f", 1).removesuffix(".py") for path in asked]


def test_the_living_are_those_that_a_file_of_now_starts_with(store: Store) -> None:
    with store.write() as writer:
        old, kept = (writer.put_file(*packed(path, CODE)) for path in ("a.py", "b.py"))
        new = writer.put_file(*packed("a.py", "x = 1\n"))
        assert writer.snapshot.living([old, kept, new, 999_999]) == {kept, new}
        writer.drop_file("b.py")
    with closing(store.snapshot()) as snapshot:
        assert snapshot.living([kept, new]) == {new} and snapshot.living([]) == set()


def test_facts_survive_and_come_back_with_what_parsing_gave(store: Store) -> None:
    put_with_facts(store, "a.py")
    put(store, {"b.md": "# B\n"})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.facts("a.py") == FACTS == snapshot.parsed("a.py").facts
        assert snapshot.facts("b.md") == FileFacts()
        with pytest.raises(KeyError):
            snapshot.facts("never/there.py")


def test_edges_survive_and_come_in_the_order_asked(store: Store) -> None:
    put(store, {"a.py": CODE, "b.py": CODE})
    put_edges(store, {"b.py": ["a.py"]})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.edges(["b.py", "a.py", "b.py"]) == [EDGES, FileEdges(), EDGES]
        assert snapshot.edges([]) == []
        with pytest.raises(KeyError):
            snapshot.edges(["a.py", "never/there.py"])


def test_the_mark_of_edges_changes_with_them_and_not_with_others(store: Store) -> None:
    put(store, {"a.py": CODE, "b.py": CODE})
    with closing(store.snapshot()) as snapshot:
        first = snapshot.edges_mark("b.py")
        assert snapshot.file_languages() == {record.path: record.language for record in snapshot.files()}
        with pytest.raises(KeyError):
            snapshot.edges_mark("never/there.py")
    put_edges(store, {"a.py": ["x.py"]})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.edges_mark("b.py") == first
    put_edges(store, {"b.py": ["x.py"]})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.edges_mark("b.py") != first


def test_edges_of_a_file_that_is_not_there_are_refused(store: Store) -> None:
    put(store, {"a.py": CODE})
    with store.write() as writer, pytest.raises(KeyError):
        writer.put_edges("never/there.py", EDGES, [])


def test_edges_of_more_files_than_one_statement_takes_are_read(store: Store) -> None:
    put(store, {f"n{number}.md": "" for number in range(1200)})
    put_edges(store, {"n7.md": [], "n1199.md": []})
    with closing(store.snapshot()) as snapshot:
        asked = paths(snapshot)[::-1]
        found = [path for path, edges in zip(asked, snapshot.edges(asked), strict=True) if edges == EDGES]
        assert found == ["n7.md", "n1199.md"]


def test_uses_of_other_files_are_read_of_all_files_at_once(store: Store) -> None:
    put(store, {"a.py": CODE, "b.py": CODE, "größe.py": CODE})
    targets = ("a.py", "Basket"), ("b.py", "own"), ("a.py", ""), ("gone.py", "x"), ("größe.py", "Maß.länge")
    edges = FileEdges(
        tuple(Target(path, name) for path, name in targets),
        ((0, 0, Rule.IMPORT), (1, 0, Rule.IMPORT), (2, 1, Rule.SCOPE), (3, 3, Rule.IMPORT)),
        ((0, 2),),
        ((7, "länge", Label.CALLS, 4, Rule.SCIP),),
    )
    expected = [(0, 1, "Basket"), (1, 0, "Basket"), (1, 2, "Maß.länge")]
    with store.write() as writer:
        writer.put_edges("b.py", edges, [])
        writer.put_edges("a.py", FileEdges((Target("b.py", "Basket"),), ((0, 0, Rule.IMPORT),)), [])
        assert uses_across(writer.snapshot) == [(*row[:2], key_number(row[2])) for row in expected]
    with closing(store.snapshot()) as snapshot:
        assert uses_across(snapshot) == [(*row[:2], key_number(row[2])) for row in expected]
    with store.write() as writer:
        writer.drop_file("b.py")
    with closing(store.snapshot()) as snapshot:
        assert uses_across(snapshot) == []


def uses_across(snapshot: Snapshot) -> list[tuple[int, int, int]]:
    found = snapshot.cross_uses()
    return list(zip(found.users.tolist(), found.definers.tolist(), found.names.tolist(), strict=True))


def test_edges_of_an_index_before_keys_are_read_too() -> None:
    before, now = zlib.compress(msgspec.msgpack.encode(EDGES)), records.pack_edges("b.py", EDGES)
    assert records.unpack_edges(before) == records.unpack_edges(now) == EDGES
    assert records.used_part("b.py", before) == records.used_part("b.py", now)
    assert len(records.used_part("b.py", now)) == 12 and records.used_part("b.py", b"") == b""


def test_a_file_put_anew_or_dropped_loses_facts_and_edges(store: Store) -> None:
    for path in ("a.py", "b.py", "c.py"):
        put_with_facts(store, path)
    put_edges(store, {"a.py": ["x.py"], "b.py": ["x.py"], "c.py": ["x.py"]})
    with store.write() as writer:
        writer.put_file(*packed("a.py", "x = 1\n"))
        writer.drop_file("b.py")
        assert writer.snapshot.consulting(["x.py"]) == ["c.py"]
    put(store, {"b.py": "x = 1\n"})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.edges(["a.py", "b.py", "c.py"]) == [FileEdges(), FileEdges(), EDGES]
        assert snapshot.facts("a.py") == snapshot.facts("b.py") == parse_source("x = 1\n", "python").facts
        assert snapshot.consulting(["x.py"]) == ["c.py"]


def test_a_touched_file_keeps_facts_and_edges(store: Store) -> None:
    put_with_facts(store, "a.py")
    put_edges(store, {"a.py": ["x.py"]})
    with store.write() as writer:
        writer.touch_file(FileEntry("a.py", 6, 77, 88, 99), True)
    with closing(store.snapshot()) as snapshot:
        assert snapshot.facts("a.py") == FACTS and snapshot.edges(["a.py"]) == [EDGES]
        assert snapshot.consulting(["x.py"]) == ["a.py"]


def test_files_that_consulted_a_path_are_found_after_every_edit(store: Store) -> None:
    put(store, {"b.py": CODE, "a.py": CODE, "c.py": CODE})
    put_edges(store, {"b.py": ["x.py", "größe.py", "x.py"], "a.py": ["x.py", "b.py"]})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.consulting(["x.py"]) == ["a.py", "b.py"]
        assert snapshot.consulting(["größe.py"]) == ["b.py"] and snapshot.consulting(["b.py"]) == ["a.py"]
        assert snapshot.consulting(["c.py"]) == [] == snapshot.consulting(["never/there.py"])
    put_edges(store, {"b.py": ["y.py"], "c.py": ["x.py"]})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.consulting(["x.py"]) == ["a.py", "c.py"] and snapshot.consulting(["y.py"]) == ["b.py"]
        assert snapshot.consulting(["größe.py"]) == []


def test_every_consulted_path_of_many_is_found(store: Store) -> None:
    put(store, {"a.py": CODE, "b.py": CODE})
    put_edges(store, {"a.py": [f"n{number}.py" for number in range(500)]})
    with closing(store.snapshot()) as snapshot:
        assert all(snapshot.consulting([f"n{number}.py"]) == ["a.py"] for number in range(500))
        assert not any(snapshot.consulting([f"m{number}.py"]) for number in range(500))


def test_a_snapshot_never_sees_later_edges(store: Store) -> None:
    put(store, {"a.py": CODE})
    put_edges(store, {"a.py": ["x.py"]})
    with closing(store.snapshot()) as before:
        with store.write() as writer:
            writer.put_edges("a.py", FileEdges(), ["y.py"])
            assert writer.snapshot.edges(["a.py"]) == [FileEdges()]
            assert writer.snapshot.consulting(["y.py"]) == ["a.py"]
        assert before.edges(["a.py"]) == [EDGES]
        assert before.consulting(["x.py"]) == ["a.py"] and before.consulting(["y.py"]) == []


def test_edges_of_a_block_that_raises_are_not_kept(store: Store) -> None:
    put(store, {"a.py": CODE})
    with pytest.raises(ValueError, match="stop"), store.write() as writer:
        writer.put_edges("a.py", EDGES, ["x.py"])
        raise ValueError("stop")
    with closing(store.snapshot()) as snapshot:
        assert snapshot.edges(["a.py"]) == [FileEdges()] and snapshot.consulting(["x.py"]) == []


def test_clearing_ends_facts_and_edges(store: Store) -> None:
    put_with_facts(store, "a.py")
    put_edges(store, {"a.py": ["x.py"]})
    with store.write() as writer:
        writer.clear()
        writer.put_file(*packed("a.py", "x = 1\n"))
    with closing(store.snapshot()) as snapshot:
        assert snapshot.edges(["a.py"]) == [FileEdges()] and snapshot.consulting(["x.py"]) == []


@pytest.mark.parametrize("unpack", [records.unpack_facts, records.unpack_edges])
@pytest.mark.parametrize("data", [b"x", zlib.compress(b""), zlib.compress(b"\x93\x01\x02\x03")])
def test_bytes_that_are_no_facts_or_edges_are_damage(unpack: Callable[[bytes], object], data: bytes) -> None:
    with pytest.raises(IndexCorrupt):
        unpack(data)


def test_chunks_are_found_by_number_in_the_order_asked(store: Store) -> None:
    put(store, {"a.py": CODE, "b.md": "# One\n\n# Two\n"})
    with closing(store.snapshot()) as snapshot:
        chunks = [*snapshot.chunks("b.md"), *snapshot.chunks("a.py")]
        asked = [chunk.number for chunk in chunks]
        assert snapshot.chunks_by_number([*asked, 999_999]) == chunks
        assert snapshot.chunks_by_number(list(range(2000)))[0].number == min(asked)


@pytest.mark.parametrize("digits", [1, 3, 10, 16])
def test_chunks_are_found_by_the_start_of_their_digest(store: Store, digits: int) -> None:
    put(store, {f"n{number}.md": f"# Number {number}\n" for number in range(20)})
    with closing(store.snapshot()) as snapshot:
        everything = [chunk for record in snapshot.files() for chunk in snapshot.chunks(record.path)]
        prefix = everything[7].digest[:digits]
        assert snapshot.chunks_by_digest(prefix) == [
            chunk for chunk in everything if chunk.digest.startswith(prefix)
        ]


def test_a_snapshot_does_not_change_under_its_reader(store: Store) -> None:
    put(store, {"a.py": CODE})
    with closing(store.snapshot()) as before:
        put(store, {"a.py": "x = 1\n", "b.md": "# B\n"})
        assert before.text("a.py") == CODE and paths(before) == ["a.py"] and before.generation == 1
        with closing(store.snapshot()) as after:
            assert after.text("a.py") == "x = 1\n" and after.generation == 2


def test_a_block_that_raises_changes_nothing(store: Store) -> None:
    put(store, {"a.py": CODE})
    with pytest.raises(ValueError, match="stop"), store.write() as writer:
        writer.put_file(*packed("b.md", "# B\n"))
        writer.set_meta({"signature": "other"})
        raise ValueError("stop")
    with closing(store.snapshot()) as snapshot:
        assert paths(snapshot) == ["a.py"] and snapshot.generation == 1
        assert "signature" not in snapshot.meta()


def test_a_first_block_that_raises_leaves_no_index(store: Store) -> None:
    with pytest.raises(ValueError, match="stop"), store.write() as writer:
        writer.put_file(*packed("b.md", "# B\n"))
        raise ValueError("stop")
    assert not store.exists()
    put(store, {"a.py": CODE})
    with closing(store.snapshot()) as snapshot:
        assert paths(snapshot) == ["a.py"] and snapshot.generation == 1


def test_every_write_is_one_generation(store: Store) -> None:
    for expected in (1, 2, 3):
        put(store, {"a.py": f"x = {expected}\n"})
        with closing(store.snapshot()) as snapshot:
            assert snapshot.generation == expected


def test_clearing_keeps_the_count_of_generations(store: Store) -> None:
    put(store, {"a.py": CODE})
    with store.write() as writer:
        writer.clear()
        assert paths(writer.snapshot) == []
    with closing(store.snapshot()) as snapshot:
        assert snapshot.generation == 2 and paths(snapshot) == [] and snapshot.posting_runs() == []


def test_clearing_remembers_which_of_several_chunks_of_a_title_each_was(store: Store) -> None:
    put(store, {"a.md": "# A\n\n## Use\none\n\n## Use\ntwo\n"})
    with store.write() as writer:
        places = {
            item.digest: place for item, place in zip(writer.snapshot.chunks("a.md"), (0, 1, 2), strict=True)
        }
        writer.clear()
    with closing(store.snapshot()) as snapshot:
        assert {item.digest: item.place for item in snapshot.retired("")} == places


def test_a_writer_reads_what_it_has_written(store: Store) -> None:
    with store.write() as writer:
        writer.put_file(*packed("a.py", CODE))
        assert writer.snapshot.text("a.py") == CODE
        assert [item.symbol.name for item in writer.snapshot.symbols_named("basket")] == ["Basket"]


def test_many_files_are_there_that_were_put_before_anything_was_read(store: Store) -> None:
    names = [f"m{number}.py" for number in range(200)]
    with store.write() as writer:
        for name in (*names, names[0], names[-1]):  # two of them once more
            writer.put_file(*packed(name, CODE))
        writer.put_edges(names[3], FileEdges((Target(names[4]),), (), ((0, 0),)), ())
    with closing(store.snapshot()) as snapshot:
        assert sorted(record.path for record in snapshot.files()) == sorted(names)
        assert {snapshot.text(name) for name in names} == {CODE}
        assert len(snapshot.symbols_named("basket")) == len(names)
        assert [edges.targets for edges in snapshot.edges(names[3:5])] == [(Target(names[4]),), ()]


def test_a_file_is_found_by_its_content_and_language(store: Store) -> None:
    put(store, {"a.py": CODE, "b.md": "# B\n"})
    with closing(store.snapshot()) as snapshot:
        record = snapshot.file("a.py")
        assert record is not None
        assert snapshot.file_with_content(record.file_hash, "python") == record
        assert snapshot.file_with_content(record.file_hash, "ruby") is None
        assert snapshot.file_with_content(HASH, "python") is None


def test_every_generation_has_a_version_of_its_own(store: Store) -> None:
    versions = []
    for number in range(3):
        put(store, {"a.py": f"x = {number}\n"})
        with closing(store.snapshot()) as first, closing(store.snapshot()) as second:
            assert first.version == second.version
            versions.append(first.version)
    store.set_aside()
    put(store, {"a.py": "x = 0\n"})
    with closing(store.snapshot()) as snapshot:
        assert len({*versions, snapshot.version}) == 4


def test_runs_can_be_sized_and_read_one_by_one(store: Store) -> None:
    number = put_terms(store, [("alpha", b"123456")])
    with closing(store.snapshot()) as snapshot:
        assert (
            snapshot.run_sizes() == {number: 1} and snapshot.posting_run(number) == snapshot.posting_runs()[0]
        )


def test_symbols_are_found_whatever_the_case_of_ascii_letters(store: Store) -> None:
    put(store, {"a.py": "class Maße:\n    pass\n\n\nclass MASSE:\n    pass\n\n\ndef massE():\n    pass\n"})
    with closing(store.snapshot()) as snapshot:
        assert [item.symbol.name for item in snapshot.symbols_named("masse")] == ["MASSE", "massE"]
        assert [item.symbol.name for item in snapshot.symbols_named("mAßE")] == ["Maße"]
        assert snapshot.symbols_named("MASSE2") == []


def test_names_that_are_looked_up_together_have_the_symbols_of_each(store: Store) -> None:
    put(
        store,
        {
            "a.py": "class Maße:\n    pass\n\n\nclass MASSE:\n    pass\n\n\ndef massE():\n    pass\n",
            "b.py": "def masse():\n    pass\n\n\ndef other():\n    pass\n",
        },
    )
    names = ["masse", "MASSE", "Maße", "nowhere", "other", *(f"no{number}" for number in range(600))]
    with closing(store.snapshot()) as snapshot:
        found = snapshot.symbols_named_many(names)
        assert {name: list(found[name]) for name in names} == {
            name: snapshot.symbols_named(name) for name in names
        }
        assert [item.path for item in found["masse"]] == ["a.py", "a.py", "b.py"]
        assert snapshot.symbols_named_many([]) == {}


def test_names_by_prefix_are_sorted_distinct_and_limited(store: Store) -> None:
    names = ("Banana", "apple", "Apple", "apricot", "APE", "öl", "apple_pie")
    put(store, {f"{place}.py": f"def {name}():\n    pass\n" for place, name in enumerate((*names, "apple"))})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.symbol_names("aP", 10) == ["APE", "Apple", "apple", "apple_pie", "apricot"]
        assert snapshot.symbol_names("ap", 2) == ["APE", "Apple"]
        assert snapshot.symbol_names("ö", 5) == ["öl"] and snapshot.symbol_names("zz", 5) == []


def test_symbols_come_by_path_and_place(store: Store) -> None:
    put(store, {"b.py": "def two():\n    pass\n", "a.py": CODE})
    with closing(store.snapshot()) as snapshot:
        found = [(item.path, item.symbol.name) for item in snapshot.all_symbols()]
    assert found == [("a.py", "Basket"), ("a.py", "total"), ("b.py", "two")]


def test_runs_and_postings_come_back(store: Store) -> None:
    number = put_terms(store, [("alpha", b"123456"), ("beta", b"abcdef")])
    with closing(store.snapshot()) as snapshot:
        assert snapshot.posting_runs() == [_run(number, [(1, 1)])]
        found = snapshot.postings_many(["gamma", "alpha"])
        assert dict(found) == {"alpha": [(number, b"123456")], "gamma": []}
        assert list(snapshot.run_terms(number)) == [("alpha", b"123456"), ("beta", b"abcdef")]


def test_all_parts_of_a_run_come_back(store: Store) -> None:
    run = PostingRun(1, b"files...", b"len.", b"lines...", b"\x80\x7f")
    with store.write() as writer:
        writer.put_run(run, [])
    with closing(store.snapshot()) as snapshot:
        assert snapshot.posting_run(1) == run and run.unit_count == 1


def test_a_dropped_run_takes_its_postings_along(store: Store) -> None:
    number = put_terms(store, [("alpha", b"123456")])
    with store.write() as writer:
        writer.drop_run(number)
    assert put_terms(store, []) > number
    with closing(store.snapshot()) as snapshot:
        assert snapshot.terms("", 10) == [] and len(snapshot.posting_runs()) == 1


def test_terms_by_prefix_are_merged_over_runs(store: Store) -> None:
    put_terms(store, [("=basketitem", b""), ("basalt", b""), ("bask", b"")])
    put_terms(store, [("base", b""), ("bask", b""), ("zoo", b"")])
    with closing(store.snapshot()) as snapshot:
        assert snapshot.terms("bas", 10) == ["basalt", "base", "bask"]
        assert snapshot.terms("bas", 2) == ["basalt", "base"] and snapshot.terms("q", 5) == []


def test_what_was_skipped_comes_back_by_path(store: Store) -> None:
    records_put = [
        SkippedRecord(Skipped("z.bin", SkipReason.BINARY), 10, 20),
        SkippedRecord(Skipped("a.key", SkipReason.SENSITIVE, "*.key")),
    ]
    with store.write() as writer:
        writer.put_skipped(records_put)
    with closing(store.snapshot()) as snapshot:
        assert snapshot.skipped() == records_put[::-1]


def test_what_is_skipped_is_replaced_and_dropped_path_by_path(store: Store) -> None:
    binary = SkippedRecord(Skipped("z.bin", SkipReason.BINARY), 10, 20)
    large = SkippedRecord(Skipped("z.bin", SkipReason.TOO_LARGE, "too much"), 11, 21)
    with store.write() as writer:
        writer.put_skipped([binary, SkippedRecord(Skipped("a", SkipReason.HIDDEN))])
        writer.put_skipped([large])
        writer.drop_skipped(["a", "never/there"])
    with closing(store.snapshot()) as snapshot:
        assert snapshot.skipped() == [large]


def test_retired_ids_are_found_by_the_start_of_their_digest(store: Store) -> None:
    old = RetiredChunk("0123456789abcdef", "a.md", ("Shop", "Setup"), HASH)
    other = RetiredChunk("01234fff89abcdef", "b.md", (), HASH, place=2, successor="ffffffff89abcdef")
    with store.write() as writer:
        writer.retire([old, other])
        writer.retire([])
    with closing(store.snapshot()) as snapshot:
        assert snapshot.retired("0123456789") == [old] and snapshot.retired("01234") == [old, other]
        assert snapshot.retired("ffff") == []


def test_an_id_retired_again_is_kept_once_with_its_last_place(store: Store) -> None:
    with store.write() as writer:
        writer.retire([RetiredChunk("0123456789abcdef", "old.md", ("A",), HASH)])
        writer.retire([RetiredChunk("0123456789abcdef", "new.md", ("A",), HASH)])
    with closing(store.snapshot()) as snapshot:
        assert [item.path for item in snapshot.retired("0123456789abcdef")] == ["new.md"]


def test_only_the_newest_retired_ids_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "RETIRED_LIMIT", 3)
    with store.write() as writer:
        writer.retire([RetiredChunk(f"{number:016x}", "a.md", (), HASH) for number in range(5)])
    with closing(store.snapshot()) as snapshot:
        assert [int(item.digest, 16) for item in snapshot.retired("0")] == [2, 3, 4]


def test_meta_is_kept_and_replaced_key_by_key(store: Store) -> None:
    with store.write() as writer:
        writer.set_meta({"signature": "1", "watermark": "w"})
    with store.write() as writer:
        writer.set_meta({"signature": "2"})
    with closing(store.snapshot()) as snapshot:
        assert (snapshot.meta()["signature"], snapshot.meta()["watermark"]) == ("2", "w")


def test_a_store_set_aside_is_empty_again(store: Store) -> None:
    put(store, {"a.py": CODE})
    store.set_aside()
    assert not store.exists()
    put(store, {"b.md": "# B\n"})
    with closing(store.snapshot()) as snapshot:
        assert paths(snapshot) == ["b.md"]


def test_postings_round_trip() -> None:
    offsets, counts = np.array([0, 7, 70_000], np.uint32), np.array([1, 65_535, 1 << 13], np.uint16)
    found = postings.decode(postings.encode(offsets, counts))
    assert found[0].tolist() == [0, 7, 70_000] and found[1].tolist() == [1, 65_535, 8192]


def test_fields_do_not_touch_each_other() -> None:
    fields = (postings.BODY, postings.COMMENT, postings.NAME, postings.STEM, postings.FOLDER)
    for field in fields:
        packed_counts = np.array([field.limit << field.shift], np.uint16)
        assert [int(other.read(packed_counts)[0]) for other in fields] == [
            field.limit if other is field else 0 for other in fields
        ]


def _run(number: int, files: list[tuple[int, int]], vectors: bytes = b"") -> PostingRun:
    """Files as (first unit, count of units); each unit says its own number as length and line."""
    units = [unit for first, count in files for unit in range(first, first + count)]
    lengths = np.array([[unit, 0] for unit in units], "<u2").tobytes()
    lines = np.array([[unit, unit] for unit in units], "<u4").tobytes()
    return PostingRun(number, np.array(files, "<u4").tobytes(), lengths, lines, vectors)


def _row(*pairs: tuple[int, int]) -> bytes:
    return postings.encode(
        np.array([pair[0] for pair in pairs], np.uint32), np.array([pair[1] for pair in pairs], np.uint16)
    )


def _living(*first_units: int) -> Callable[[Sequence[int]], set[int]]:
    return set(first_units).intersection


def test_merging_drops_files_that_are_gone_and_keeps_the_rest_in_order() -> None:
    one = _run(1, [(1, 1), (2, 2), (4, 1)], b"abc")
    two = _run(2, [(10, 2), (12, 1)], b"de")
    first_rows = [("both", _row((0, 5), (1, 6))), ("dead", _row((1, 1), (2, 1)))]
    second_rows = [("both", _row((2, 7))), ("late", _row((0, 8), (1, 9), (2, 10)))]
    merged = postings.merge(9, [(one, first_rows), (two, second_rows)], _living(1, 4, 10))
    rows = {term: [part.tolist() for part in postings.decode(data)] for term, data in merged.rows}
    assert merged.run == _run(9, [(1, 1), (4, 1), (10, 2)], b"acd")
    assert rows == {"both": [[0], [5]], "late": [[2, 3], [8, 9]]}


def test_merging_keeps_several_bytes_of_each_vector_together() -> None:
    runs = [(_run(1, [(1, 1), (2, 1)], b"aabb"), []), (_run(2, [(3, 1)], b"cc"), [])]
    assert postings.merge(3, runs, _living(2, 3)).run.vectors == b"bbcc"


def test_merging_only_files_that_are_gone_gives_an_empty_run() -> None:
    merged = postings.merge(3, [(_run(1, [(1, 1)]), [("term", _row((0, 1)))])], _living())
    assert merged.run == _run(3, []) and list(merged.rows) == []


def test_what_is_known_of_files_gives_the_same_list(store: Store) -> None:
    put(store, {"a.py": CODE, "b.py": "", "c.py": LONG})
    with closing(store.snapshot()) as snapshot:
        before = snapshot.files()
    put(store, {"b.py": "X = 1\n", "d.py": CODE})
    with closing(store.snapshot()) as one, closing(store.snapshot()) as other:
        assert one.files(before) == other.files()


def test_the_extent_counts_what_was_read(store: Store) -> None:
    put(store, {"a.py": CODE, "b.py": ""})
    with store.write() as writer:
        writer.put_skipped([SkippedRecord(Skipped("c.bin", SkipReason.BINARY, ""), 7, 9_999)])
        writer.put_skipped([SkippedRecord(Skipped("d", SkipReason.HIDDEN, ""), -1, 0)])
    with closing(store.snapshot()) as snapshot:
        files = snapshot.files()
        assert snapshot.extent() == Extent(
            3,
            max(9_999, *(record.mtime_ns for record in files)),
            7 + sum(record.size for record in files),
        )
        assert [item.skipped.path for item in snapshot.skipped(["d", "a.py"])] == ["d"]


def test_the_postings_of_many_terms_come_in_one_call_over_all_runs(store: Store) -> None:
    first = put_terms(store, [("alpha", b"123456"), ("beta", b"abcdef")])
    second = put_terms(store, [("alpha", b"654321")])
    with closing(store.snapshot()) as snapshot:
        found = snapshot.postings_many(["beta", "alpha", "aa", "zz"])
        assert list(found["alpha"]) == [(first, b"123456"), (second, b"654321")]
        assert list(found["beta"]) == [(first, b"abcdef")] and not found["aa"] and not found["zz"]
        assert not snapshot.postings_many([])


def test_a_writer_waits_for_another_and_then_says_busy(store: Store) -> None:
    if not plugins.load("store", _scheme(store)).is_shared:
        pytest.skip("its writers are threads, which wait as long as it takes")
    with store.write() as writer:
        writer.set_meta({"a": "1"})
        assert store.is_locked()
        with pytest.raises(IndexBusy), store.write():
            pass
    assert not store.is_locked()


def test_the_last_write_has_a_time(store: Store) -> None:
    assert store.last_written() is None and store.size_bytes() == 0
    put(store, {"a.py": CODE})
    written = store.last_written()
    assert written is not None and abs(time.time() - written) < 60


def test_a_file_that_is_no_index_is_corrupt_and_can_be_set_aside(store: Store) -> None:
    if store.file is None:
        pytest.skip("it is in no file")
    put(store, {"a.py": CODE})
    store.file.write_bytes(b"no index at all" * 100)
    with pytest.raises(IndexCorrupt):
        store.snapshot()
    assert store.set_aside() and not store.exists()
    put(store, {"a.py": CODE})
    with closing(store.snapshot()) as snapshot:
        assert snapshot.generation == 1


def test_scip_documents_stay_whatever_becomes_of_their_files(store: Store) -> None:
    said = ScipUses("shown", ("total",), (Target("b.py", "Basket.total"),), ((3, 0, 0, 1),))
    put(store, {"a.py": CODE})
    with store.write() as writer:
        assert writer.snapshot.scip_documents() == {}
        writer.put_scip("a.py", HASH, ScipUses())
        writer.put_scip("a.py", HASH, said)
        writer.put_scip("../elsewhere.py", "", ScipUses())
        assert writer.snapshot.scip_uses("a.py") == said
    with store.write() as writer:
        writer.put_file(*packed("a.py", CODE + "\n"))
        writer.drop_file("a.py")
        writer.clear()
    with closing(store.snapshot()) as before:
        assert before.scip_documents() == {"a.py": HASH, "../elsewhere.py": ""}
        assert before.scip_uses("a.py") == said and before.scip_uses("../elsewhere.py") == ScipUses()
        with pytest.raises(KeyError):
            before.scip_uses("b.py")
        with store.write() as writer:
            writer.drop_scip()
            assert writer.snapshot.scip_documents() == {}
        assert before.scip_uses("a.py") == said
    with closing(store.snapshot()) as after:
        assert after.scip_documents() == {}
        with pytest.raises(KeyError):
            after.scip_uses("a.py")


def test_siblings_have_indexes_of_their_own_and_share_the_scratch_folder(store: Store) -> None:
    put(store, {"a.py": CODE})
    siblings = store.siblings()
    assert siblings.names() == [] and not siblings.open("one").exists()
    for name in ("one", "two"):
        put(siblings.open(name), {f"{name}.md": "# A\n"})
        siblings.mark_used(name)
        time.sleep(0.01)  # the time of a file tells when it was used
    siblings.mark_used("one")
    assert siblings.names() == ["one", "two"] and siblings.open("two").scratch == store.scratch
    siblings.remove("one")
    siblings.remove("never")
    assert siblings.names() == ["two"]
    with closing(siblings.open("two").snapshot()) as two, closing(store.snapshot()) as main:
        assert paths(two) == ["two.md"] and paths(main) == ["a.py"]


def test_a_first_generation_can_start_as_a_copy(store: Store) -> None:
    put(store, {"a.py": CODE})
    put_with_facts(store, "b.py")
    put_with_facts(store, "c.py")
    put_edges(store, {"b.py": ["a.py"], "c.py": ["a.py"]})
    other = store.siblings().open("copy")
    with closing(store.snapshot()) as seed, other.write(seed) as writer:
        writer.drop_file("b.py")
    with closing(other.snapshot()) as copy, closing(store.snapshot()) as main:
        assert paths(copy) == ["a.py", "c.py"] and paths(main) == ["a.py", "b.py", "c.py"]
        assert copy.facts("c.py") == FACTS and copy.edges(["c.py"]) == [EDGES]
        assert copy.consulting(["a.py"]) == ["c.py"] and main.consulting(["a.py"]) == ["b.py", "c.py"]
        assert copy.version.partition(":")[0] != main.version.partition(":")[0]


def test_a_copy_of_another_kind_of_store_starts_empty(store: Store, tmp_path: Path) -> None:
    other = open_store("memory:" if _scheme(store) == "sqlite" else tmp_path / "other")
    put(other, {"a.py": CODE})
    with closing(other.snapshot()) as seed, store.write(seed) as writer:
        assert paths(writer.snapshot) == []


def test_a_removed_index_is_gone_and_can_be_built_anew(store: Store) -> None:
    store.remove()
    put(store, {"a.py": CODE})
    store.remove()
    assert not store.exists()
    with pytest.raises(IndexMissing):
        store.snapshot()
    put(store, {"b.md": "# B\n"})
    with closing(store.snapshot()) as snapshot:
        assert paths(snapshot) == ["b.md"]


def test_a_store_beside_another_has_an_index_of_its_own(store: Store) -> None:
    other = store.beside("eval")
    put(other, {"b.md": "# B\n"})
    assert other.exists() and not store.exists() and store.siblings().names() == []


def _scheme(store: Store) -> str:
    return type(store).__name__.removesuffix("Store").lower()
