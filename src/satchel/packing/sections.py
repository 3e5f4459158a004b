"""Which section does a piece belong to, and how many may each section have before others had their turn?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from satchel import languages
from satchel.errors import InvalidRequest
from satchel.packing.pack import Section
from satchel.types import ChunkKind, Passage


class PackMode(StrEnum):
    """What the pack is for: to understand, or to change something small."""

    FULL = "full"
    EDIT_MINIMAL = "edit_minimal"


CAPS: Mapping[PackMode, Mapping[Section, int]] = {
    PackMode.FULL: dict(zip(Section, (8, 8, 5, 4, 4, 3), strict=True)),
    PackMode.EDIT_MINIMAL: dict(zip(Section, (8, 6, 4, 1, 2, 0), strict=True)),
}
_MOST = 1000  # items of a section that can be asked for
_SETTINGS = frozenset({"config", "ci", "build"})


def caps_of(mode: PackMode, changed: Mapping[str, int]) -> dict[Section, int]:
    """The caps of a mode, with those that the caller changed."""
    caps = dict(CAPS[mode])
    for name, cap in changed.items():
        if name not in set(Section):
            raise InvalidRequest(
                f"section_caps names {name!r}, which is no section", hint=f"sections: {', '.join(Section)}"
            )
        if not 0 <= cap <= _MOST:
            raise InvalidRequest(f"the cap of {name} is {cap}, it must be from 0 to {_MOST}")
        caps[Section(name)] = cap
    return caps


def section_of(passage: Passage) -> Section:
    """The first section that fits. A test answers as code only when the question names what it defines."""
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
    """Where a whole file belongs; code belongs to the definitions."""
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
    language = languages.get(name)
    return bool(language.query or language.block_keywords or language.chunker == "notebooks") and (
        language.module_kind is not ChunkKind.CONFIG or language.chunker == "notebooks"
    )
