"""Validation: every way in which a pack can be untrue is found and named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import SHOP, age, make_engine, make_tree

from satchel.engine import Engine
from satchel.packing.layers import LayeredPack
from satchel.verifying.validation import Problem, decode, validate

Fields = dict[str, Any]


@pytest.fixture
def shop(tmp_path: Path) -> Engine:
    engine = make_engine(age(make_tree(tmp_path / "shop", SHOP)))
    engine.refresh()
    return engine


def problems(engine: Engine, damage: Callable[[Fields], None]) -> list[Problem]:
    fields: Fields = msgspec.to_builtins(engine.pack_layers(documents_only=False))
    damage(fields)
    return engine.validate(msgspec.convert(fields, LayeredPack))


def kinds(found: list[Problem]) -> set[str]:
    return {problem.kind for problem in found}


def test_a_fresh_pack_holds(shop: Engine) -> None:
    assert problems(shop, lambda fields: None) == []


def test_a_pack_survives_its_own_encoding(shop: Engine) -> None:
    pack = shop.pack_layers()
    assert decode(msgspec.json.encode(pack)) == pack


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b"\xff\xfe", b'{"schema_version": "1"}', b"null"])
def test_what_is_no_pack_is_a_schema_problem(data: bytes) -> None:
    found = decode(data)
    assert isinstance(found, Problem) and found.kind == "schema" and found.detail


def test_another_schema_version_is_a_schema_problem(shop: Engine) -> None:
    found = problems(shop, lambda fields: fields.update(schema_version=2))
    assert kinds(found) == {"schema"} and "2 instead of 1" in found[0].detail


def test_an_id_used_twice_is_found(shop: Engine) -> None:
    found = problems(shop, lambda fields: fields["chunks"].append(fields["chunks"][0]))
    assert kinds(found) == {"duplicate_id"}


def test_an_index_entry_without_a_chunk_is_found(shop: Engine) -> None:
    found = problems(shop, lambda fields: fields["chunks"].pop(-1))
    assert "missing_chunk" in kinds(found)


def test_a_chunk_without_an_index_entry_is_found(shop: Engine) -> None:
    assert kinds(problems(shop, lambda fields: fields["index"].pop(0))) == {"missing_index_entry"}


def test_a_digest_that_names_no_chunk_is_found(shop: Engine) -> None:
    def damage(fields: Fields) -> None:
        fields["digest"][0]["source_chunk_ids"] = ["README:0000000000"]

    found = problems(shop, damage)
    assert kinds(found) == {"missing_chunk"} and "digest of README" in found[0].detail


def test_a_source_that_is_gone_is_found(shop: Engine) -> None:
    pack = shop.pack_layers()
    (shop.root / "README.md").unlink()
    found = shop.validate(pack)
    assert kinds(found) == {"source_missing"} and found[0].subject == "README.md"


def test_a_changed_source_is_found_with_every_citation_it_breaks(shop: Engine) -> None:
    pack = shop.pack_layers()
    text = (shop.root / "README.md").read_text()
    make_tree(shop.root, {"README.md": text.replace("make install", "make build")})
    found = shop.validate(pack)
    assert [problem.kind for problem in found] == ["source_changed", "citation_broken"]
    assert "README.md:5:7" in found[1].detail


def test_a_text_that_is_not_that_of_the_file_is_found(shop: Engine) -> None:
    def damage(fields: Fields) -> None:
        fields["chunks"][0]["text"] += " "

    assert kinds(problems(shop, damage)) == {"citation_broken"}


def test_lines_outside_of_the_file_are_found(shop: Engine) -> None:
    def damage(fields: Fields) -> None:
        fields["chunks"][0].update(start_line=-3, end_line=10_000)

    assert "citation_broken" in kinds(problems(shop, damage))


def test_a_chunk_of_an_unlisted_source_is_found(shop: Engine) -> None:
    assert "source_unlisted" in kinds(problems(shop, lambda fields: fields["source_files"].pop(0)))


def test_an_id_of_another_document_is_found(shop: Engine) -> None:
    def damage(fields: Fields) -> None:
        fields["chunks"][0]["id"] = fields["index"][0]["id"] = "docs/guide:0123456789"

    assert "id_mismatch" in kinds(problems(shop, damage))


@pytest.mark.parametrize(
    ("layer", "wrong", "kind"),
    [
        ("docs", {"sha256": "0" * 64}, "doc_mismatch"),
        ("docs", {"chunk_count": 77}, "doc_mismatch"),
        ("docs", {"total_chars": 1}, "doc_mismatch"),
        ("docs", {"doc": "other"}, "doc_mismatch"),
        ("index", {"start_line": 5}, "index_mismatch"),
        ("index", {"preview": "lie"}, "index_mismatch"),
        ("index", {"token_est": 9}, "index_mismatch"),
        ("index", {"title_path": ["Other"]}, "index_mismatch"),
        ("chunks", {"char_count": 1}, "chunk_mismatch"),
        ("chunks", {"line_count": 1}, "chunk_mismatch"),
        ("chunks", {"title_path": ["Other"]}, "id_mismatch"),
    ],
)
def test_a_wrong_field_is_found(shop: Engine, layer: str, wrong: Fields, kind: str) -> None:
    assert kind in kinds(problems(shop, lambda fields: fields[layer][0].update(wrong)))


def test_a_document_that_is_not_listed_is_found(shop: Engine) -> None:
    assert kinds(problems(shop, lambda fields: fields["docs"].pop(0))) == {"doc_mismatch"}


def test_an_index_entry_given_twice_is_found(shop: Engine) -> None:
    found = problems(shop, lambda fields: fields["index"].append(fields["index"][0]))
    assert kinds(found) == {"duplicate_id"}


@pytest.mark.parametrize("layer", ["source_files", "docs", "digest", "index", "chunks", ""])
def test_a_field_that_is_not_of_the_schema_is_a_schema_problem(shop: Engine, layer: str) -> None:
    fields: Fields = msgspec.to_builtins(shop.pack_layers())
    (fields[layer][0] if layer else fields)["extra"] = 1
    found = decode(msgspec.json.encode(fields))
    assert isinstance(found, Problem) and found.kind == "schema" and "extra" in found.detail


def test_headings_of_every_form_and_copies_of_a_section_hold(shop: Engine) -> None:
    text = "Two\nlines\n===\nbody\n\n## Use ##\nsame\n\n## Use\nsame\n\n##\n\n" + "long line\n\n" * 1000
    make_tree(shop.root, {"forms.md": text, "page.rst": "====\nPage\n====\n\nPart\n----\ntext\n"})
    shop.refresh()
    assert problems(shop, lambda fields: None) == []


@pytest.mark.parametrize("path", ["../outside.md", "/etc/passwd", "src/../../outside.md"])
def test_a_pack_never_makes_validation_read_outside_the_root(shop: Engine, path: str) -> None:
    (shop.root.parent / "outside.md").write_text("outside\n")

    def damage(fields: Fields) -> None:
        fields["source_files"][0]["path"] = path

    found = problems(shop, damage)
    assert any(problem.kind == "source_missing" and problem.subject == path for problem in found)


def test_every_problem_of_a_pack_is_listed(shop: Engine) -> None:
    pack = shop.pack_layers(documents_only=False)
    make_tree(shop.root, dict.fromkeys(SHOP, "changed\n"))
    found = validate(pack, shop.read)
    assert {problem.subject for problem in found if problem.kind == "source_changed"} == set(SHOP)
    assert sum(problem.kind == "citation_broken" for problem in found) == len(pack.chunks)


def test_redacted_documents_validate(shop: Engine) -> None:
    make_tree(shop.root, {"keys.md": "# ItemKeys\n\ntoken ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3hJ5\n"})
    shop.refresh()
    assert problems(shop, lambda fields: None) == []
