"""Sections: the first that fits, tests and documents apart from code, caps by mode."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine

from satchel.engine import Engine
from satchel.errors import InvalidRequest
from satchel.packing.pack import Pack
from satchel.packing.sections import PackMode, Section, caps_of, section_of_file

TREE: dict[str, str | bytes] = {
    "src/money.py": "def add_money(amounts):\n    return sum(amounts)\n",
    "src/till.py": "from src.money import add_money\n\n\ndef open_till():\n    return add_money([1])\n",
    "tests/test_money.py": "from src.money import add_money\n\n\ndef test_add_money():\n    assert add_money([]) == 0\n",
    "docs/money.md": "# Money\n\nHow add_money adds money up.\n",
    "pyproject.toml": '[project]\nname = "money"\ndependencies = ["money-lib"]\n',
    "package-lock.json": '{\n  "name": "money",\n  "lockfileVersion": 3\n}\n',
    "money.ini": "[money]\nadd_money = yes\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("sections"), TREE))


def sections(pack: Pack) -> dict[str, str]:
    return {item.path: item.section.value for item in pack.items}


def test_each_file_is_where_its_kind_belongs(engine: Engine) -> None:
    found = sections(engine.pack("how does money add_money work", budget_tokens=4000))
    assert found["src/money.py"] == "definitions" and found["tests/test_money.py"] == "tests"
    assert found["docs/money.md"] == "docs" and found.get("money.ini", "config") == "config"


@pytest.mark.parametrize(
    ("language", "tags", "section"),
    [
        ("python", (), Section.DEFINITIONS),
        ("python", ("test",), Section.TESTS),
        ("toml", ("dependency", "config"), Section.DEPENDENCIES),
        ("json", ("dependency",), Section.DEPENDENCIES),
        ("yaml", ("config",), Section.CONFIG),
        ("markdown", ("docs",), Section.DOCS),
        ("markdown", ("test",), Section.TESTS),
        ("text", (), Section.DOCS),
        ("unknown", (), Section.DOCS),
    ],
)
def test_a_file_belongs_to_the_first_section_that_fits(
    language: str, tags: tuple[str, ...], section: Section
) -> None:
    assert section_of_file(language, tags) is section


def test_a_test_is_a_definition_only_when_it_is_named(engine: Engine) -> None:
    assert sections(engine.pack("test_add_money"))["tests/test_money.py"] == "definitions"
    assert sections(engine.pack("add_money"))["tests/test_money.py"] == "tests"


def test_edit_minimal_shows_no_documents(engine: Engine) -> None:
    assert "docs" not in sections(engine.pack("money add_money", mode="edit_minimal")).values()
    assert "docs" in sections(engine.pack("money add_money", mode="full")).values()


def test_only_the_caps_that_are_given_change() -> None:
    caps = caps_of(PackMode.EDIT_MINIMAL, {"tests": 7})
    assert list(caps.values()) == [8, 6, 4, 7, 2, 0]
    assert list(caps_of(PackMode.FULL, {}).values()) == [8, 8, 5, 4, 4, 3]


@pytest.mark.parametrize("caps", [{"chapters": 1}, {"tests": -1}, {"tests": 1001}, {"": 1}])
def test_caps_that_make_no_sense_are_errors(caps: dict[str, int]) -> None:
    with pytest.raises(InvalidRequest):
        caps_of(PackMode.FULL, caps)


def test_a_section_that_is_empty_although_there_was_something_is_said(engine: Engine, tmp_path: Path) -> None:
    pack = engine.pack("money add_money", section_caps={"docs": 0})
    assert not pack.of_section(Section.DOCS) and pack.counts.dropped_by_section["docs"] >= 1
    assert any(hint.startswith("docs: none is shown") for hint in pack.hints)
