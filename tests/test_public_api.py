"""What `import satchel` gives is exported, documented, and all that its users meet."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import satchel

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "public-api.md").read_text()
METHODS = sorted(set(re.findall(r"`Engine\.(\w+)\(", PAGE)))
NOT_OURS = {"Any", "Callable", "Iterator", "Mapping", "None", "Path", "PathLike", "Self", "Sequence"}


def types_in(annotation: object) -> set[str]:
    """The names of our own types in an annotation as it is written."""
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return set(re.findall(r"\b[A-Z]\w*", written)) - NOT_OURS


def test_the_exported_names_are_sorted_and_few() -> None:
    assert satchel.__all__ == sorted(satchel.__all__) and len(satchel.__all__) <= 20


@pytest.mark.parametrize("name", satchel.__all__)
def test_an_exported_name_can_be_imported_and_is_documented(name: str) -> None:
    assert getattr(satchel, name) is not None
    assert f"`{name}`" in PAGE


def test_no_other_name_is_given_away() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = satchel.Nonsense  # type: ignore[attr-defined]
    given = {name for name in vars(satchel) if not name.startswith("_")} - set(satchel.__all__)
    assert given <= {"Any", "TYPE_CHECKING", "annotations", *_parts_of_the_package()}


def _parts_of_the_package() -> set[str]:
    return {path.stem for path in (ROOT / "src" / "satchel").iterdir()}


@pytest.mark.parametrize("name", METHODS)
def test_what_a_public_method_takes_and_returns_is_exported(name: str) -> None:
    method: Any = inspect.unwrap(getattr(satchel.Engine, name))
    function = getattr(method, "__func__", method)
    internal = {"CancelToken", "Store", "Watermark"}  # parameters that only the program's own callers give
    named = set().union(*map(types_in, function.__annotations__.values()))
    assert named - internal <= set(satchel.__all__)


@pytest.mark.parametrize("owner", [satchel.ChunkManager, satchel.ChunkSearchTool])
def test_what_the_object_api_returns_is_exported_or_described(owner: type) -> None:
    for name, member in inspect.getmembers(owner):
        method = member.fget if isinstance(member, property) else member
        if not name.startswith("_") and inspect.isfunction(method):
            found = types_in(method.__annotations__.get("return", ""))
            assert all(one in satchel.__all__ or f"`{one}`" in PAGE for one in found), name


def test_types_inside_of_what_is_returned_are_documented() -> None:
    for name in satchel.__all__:
        fields = getattr(getattr(satchel, name), "__struct_fields__", ())
        annotations = getattr(getattr(satchel, name), "__annotations__", {})
        for field in fields:
            assert all(f"`{found}`" in PAGE for found in types_in(annotations[field])), (name, field)


def test_the_page_names_the_main_jobs() -> None:
    assert {"open", "refresh", "search", "pack", "review", "get", "symbols", "references"} <= set(METHODS)
