"""A SCIP file comes from elsewhere: whatever is in it, the answer is an index or a typed error."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from builders import memory_engine
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scip_project import (
    PYTHON,
    TYPESCRIPT,
    Document,
    Occurrence,
    field,
    make_project,
    scip_bytes,
    varint,
    write_scip,
)

from satchel.engine import Engine
from satchel.errors import FileNotFound, InvalidRequest, SatchelError, TooLarge
from satchel.graph.scip import documents
from satchel.graph.scip.documents import ScipFile
from satchel.graph.scip.fitting import columns_of, own_name
from satchel.graph.scip.wire import Malformed, fields, read_varint

REAL = (TYPESCRIPT.read_bytes(), PYTHON.read_bytes())


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_project(tmp_path_factory.mktemp("work") / "shop"))


def read_all(file: Path, root: Path) -> list[documents.ScipDocument]:
    return list(ScipFile(file, root).documents())


def test_a_real_file_is_read_whole(tmp_path: Path) -> None:
    found = read_all(TYPESCRIPT, Path("/tmp/shop"))
    assert sorted(item.path for item in found) == ["src/app.ts", "src/basket.ts", "src/pick.ts"]
    (app,) = [item for item in found if item.path == "src/app.ts"]
    used = [item for item in app.occurrences if item.symbol.endswith("Basket#total().")]
    assert [(item.line, item.is_definition) for item in used] == [(7, False), (8, False)]


@pytest.mark.parametrize(
    "data, told",
    [
        (b"", "it is empty"),
        (b"hello, this is no index at all", "no field|takes"),
        (field(2, b"x" * 40)[:-1], "takes 40 bytes, and 39 are left"),
        (varint(2 << 3 | 2) + varint(2**40), "takes 1099511627776 bytes, and 0 are left"),
        (varint(2 << 3 | 2) + b"\xff" * 11, "more than 10 bytes"),
        (b"\xff" * 11, "more than 10 bytes"),
        (b"\x80", "cut off"),
        (varint(2 << 3 | 3), "kind 3"),  # a group
        (varint(0 << 3 | 2) + b"\0", "number 0"),
        (field(2, field(1, b"\xff\xfe.py")), "utf-8"),
        (field(2, field(1, "a" * 5_000)), "5000 characters, more than 4096"),
        (field(2, field(2, field(1, varint(1) + varint(2)))), r"range \[1, 2\]"),
        (field(2, field(2, field(2, "no range"))), r"range \[\]"),
        (field(2, field(2, field(1, varint(2**31) + b"\1\2"))), "range"),
        (field(2, field(2, field(1, b"\1\2\3") + field(2, b"\xff"))), "utf-8"),
        (field(2, field(2, field(1, b"\xff\xff"))), "cut off"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, data: bytes, told: str) -> None:
    file = tmp_path / "wrong.scip"
    file.write_bytes(data)
    with pytest.raises(InvalidRequest, match=told) as caught:
        read_all(file, tmp_path)
    assert "wrong.scip" in caught.value.message and str(tmp_path) not in caught.value.message
    assert caught.value.hint


def test_sizes_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_scip(tmp_path / "large.scip", Document("a.py", [Occurrence((0, 0, 1), "x")] * 50))
    monkeypatch.setattr(documents, "_MOST_OCCURRENCES", 49)
    with pytest.raises(InvalidRequest, match="more than 49 occurrences"):
        read_all(file, tmp_path)
    monkeypatch.setattr(documents, "_MOST_DOCUMENT_BYTES", 100)
    with pytest.raises(InvalidRequest, match="more than 100"):
        read_all(file, tmp_path)
    monkeypatch.setattr(documents, "MOST_BYTES", 10)
    with pytest.raises(TooLarge, match="bytes, more than 10"):
        read_all(file, tmp_path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.scip"
    with open(file, "wb") as stream:
        stream.truncate(documents.MOST_BYTES + 1)  # takes no room
    with pytest.raises(TooLarge):
        ScipFile(file, tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.scip")
    with pytest.raises((InvalidRequest, FileNotFound)):
        ScipFile(tmp_path / "pipe.scip", tmp_path)


def test_fields_that_are_not_known_are_skipped(tmp_path: Path) -> None:
    more = field(99, 7) + varint(98 << 3 | 1) + b"12345678" + varint(97 << 3 | 5) + b"1234" + field(96, b"x")
    file = tmp_path / "more.scip"
    file.write_bytes(more + scip_bytes([Document("a.py")]) + more)
    assert [item.path for item in read_all(file, tmp_path)] == ["a.py"]


def test_a_range_may_be_written_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "plain.scip"
    place = field(1, 3) + field(1, 4) + field(1, 9)
    file.write_bytes(field(2, field(1, "a.py") + field(2, place + field(2, "x") + field(3, 1))))
    (document,) = read_all(file, tmp_path)
    assert document.occurrences == [documents.Occurrence(3, 4, 9, "x", True)]


DAMAGE = st.tuples(
    st.sampled_from(REAL), st.lists(st.tuples(st.integers(0, 6_000), st.binary(max_size=4)), max_size=6)
)


@settings(max_examples=80, deadline=None)
@given(damage=DAMAGE)
def test_a_damaged_file_gives_edges_or_a_typed_error(
    shop: Engine, damage: tuple[bytes, list[tuple[int, bytes]]]
) -> None:
    data, changes = damage
    for at, bytes_there in changes:
        data = data[:at] + bytes_there + data[at + len(bytes_there) :]
    _import_or_refuse(shop, data)


@settings(max_examples=80, deadline=None)
@given(data=st.binary(max_size=300))
@example(data=b"")
@example(data=field(2, b""))
@example(data=scip_bytes([Document("src/app.ts", [Occurrence((10**6, 0, 5), "x y . . z#")])]))
def test_any_bytes_give_edges_or_a_typed_error(shop: Engine, data: bytes) -> None:
    _import_or_refuse(shop, data)


def _import_or_refuse(engine: Engine, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "any.scip"
        file.write_bytes(data)
        generation = engine.snapshot().generation
        try:
            engine.refresh(scip=[file])
        except SatchelError as error:
            assert error.message and error.hint
            assert engine.snapshot().generation == generation


PLACES = st.lists(st.integers(0, 40), min_size=3, max_size=4)
OCCURRENCES = st.builds(
    Occurrence,
    PLACES,
    st.text(max_size=12) | st.sampled_from(["s m . . a/Basket#", "s m . . a/Basket#total().", "local 1"]),
    st.integers(0, 9),
)
DOCUMENTS = st.builds(
    Document,
    st.sampled_from(["src/app.ts", "src/basket.ts", "../src/app.ts", "/etc/passwd", "tools/report.py"]),
    st.lists(OCCURRENCES, max_size=8),
    st.integers(0, 4),
    st.text(max_size=5),
)


@settings(max_examples=80, deadline=None)
@given(found=st.lists(DOCUMENTS, max_size=4), root=st.text(max_size=20) | st.just("file:///%ff\0"))
def test_any_documents_are_taken_or_refused(shop: Engine, found: list[Document], root: str) -> None:
    _import_or_refuse(shop, scip_bytes(found, root))
    known = {record.path for record in shop.snapshot().files()}
    for edges in shop.snapshot().edges(sorted(known)):
        assert {target.path for target in edges.targets} <= known


@given(st.integers(0, 2**64 - 1))
def test_numbers_come_back(number: int) -> None:
    assert read_varint(varint(number), 0) == (number, len(varint(number)))


def test_a_number_of_more_than_64_bits_is_malformed() -> None:
    with pytest.raises(Malformed, match="64 bits"):
        read_varint(varint(2**69), 0)


def test_no_nesting_is_followed() -> None:
    data = b""
    for _ in range(2_000):
        data = field(7, data)
    ((number, value),) = fields(data)
    assert number == 7 and isinstance(value, bytes) and len(value) < len(data)


@pytest.mark.parametrize(
    "symbol, name, is_written, is_definition",
    [
        ("scip-typescript npm shop 1.0.0 src/`app.ts`/Basket#total().", "total", True, True),
        ("scip-typescript npm shop 1.0.0 src/`app.ts`/Basket#", "Basket", True, True),
        ("scip-typescript npm shop 1.0.0 src/`app.ts`/", "app.ts", False, False),
        (
            "scip-typescript npm shop 1.0.0 src/`app.ts`/Basket#`<constructor>`().",
            "<constructor>",
            False,
            False,
        ),
        ("scip-python python shop 1.0.0 `a.b`/total().(price)", "price", True, False),
        ("scip-python python shop 1.0.0 `a.b`/__init__:", "__init__", False, False),
        ("semanticdb maven . . shop/Basket#total(+1).", "total", True, True),
        ("rust-analyzer cargo shop 1.0.0 till/impl#[Till]open().", "open", True, True),
        ("rust-analyzer cargo shop 1.0.0 macros/ring!", "ring", True, True),
        ("x y z 1 a/`odd ``name```.", "odd `name`", True, True),
        ("x y z 1 a/Box#[T]", "T", True, False),
        ("local 12", "", False, False),
        ("", "", False, False),
        ("nothing of the kind", "", False, False),
    ],
)
def test_the_own_name_of_a_symbol(symbol: str, name: str, is_written: bool, is_definition: bool) -> None:
    assert own_name(symbol) == (name, is_written, is_definition)


def test_columns_of_whole_words() -> None:
    assert columns_of("total = subtotal + total(total_sum)", "total") == [0, 19]
    assert columns_of("anything", "") == []
