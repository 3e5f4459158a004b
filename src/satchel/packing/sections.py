"""Which section does a passage belong to, and how many passages may a section take before the others?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from satchel import languages
from satchel.errors import InvalidRequest
from satchel.types import ChunkKind, Passage


class Section(StrEnum):
    """What an item is good for. An item belongs to the first section that fits it."""

    DEFINITIONS = "definitions"
    KEY_USAGES = "key_usages"
    DEPENDENCIES = "dependencies"
    TESTS = "tests"
    CONFIG = "config"
    DOCS = "docs"


class PackMode(StrEnum):
    """The purpose of a pack: to understand the code, or to make a small edit."""

    FULL = "full"
    EDIT_MINIMAL = "edit_minimal"


CAPS: Mapping[PackMode, Mapping[Section, int]] = {
    PackMode.FULL: dict(zip(Section, (8, 8, 5, 4, 4, 3), strict=True)),
    PackMode.EDIT_MINIMAL: dict(zip(Section, (8, 6, 4, 1, 2, 0), strict=True)),
}
_MOST_CAP = 1000  # the largest cap that a caller can ask for
_SETTINGS = frozenset({"config", "ci", "build"})


def caps_of(mode: PackMode, changes: Mapping[str, int]) -> dict[Section, int]:
    """Return the caps of a mode, with those that the caller changes; raise InvalidRequest for a wrong one."""
    caps = dict(CAPS[mode])
    for name, cap in changes.items():
        if name not in set(Section):
            raise InvalidRequest(
                f"section_caps names {name!r}, which is no section", hint=f"sections: {', '.join(Section)}"
            )
        if not 0 <= cap <= _MOST_CAP:
            raise InvalidRequest(f"the cap of {name} is {cap}, it must be from 0 to {_MOST_CAP}")
        caps[Section(name)] = cap
    return caps


def section_of(passage: Passage) -> Section:
    """Return the first section that fits a passage. A test counts as a definition only when the query names
    what it defines."""
    settings = passage.kind is ChunkKind.CONFIG or (
        bool(_SETTINGS.intersection(passage.tags)) and not passage.defines
    )
    section = section_of_file(passage.language, passage.tags, settings=settings)
    if section is Section.TESTS and passage.named and _is_program(passage.language):
        section = Section.DEFINITIONS
    if section is not Section.DEFINITIONS or (passage.defines and passage.asked):
        return section
    return Section.DEPENDENCIES if passage.only_imports else Section.KEY_USAGES


def section_of_file(language: str, tags: Sequence[str], *, settings: bool = False) -> Section:
    """Return the section of a file by its language and tags; code belongs to the definitions. `settings` says
    that the lines in question are settings."""
    if "dependency" in tags:
        return Section.DEPENDENCIES
    if "test" in tags:
        return Section.TESTS
    if languages.get(language).prose:
        return Section.DOCS
    if settings or ("config" in tags and not _is_program(language)):
        return Section.CONFIG
    return Section.DEFINITIONS if _is_program(language) else Section.DOCS


def _is_program(name: str) -> bool:
    """Return whether a language is one of programs, not of prose or settings."""
    language = languages.get(name)
    return bool(language.query or language.block_keywords or language.chunker == "notebooks") and (
        language.module_kind is not ChunkKind.CONFIG or language.chunker == "notebooks"
    )
