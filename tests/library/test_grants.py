"""A library that is opened with a grant answers as if the other repositories did not exist."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from builders import age, make_tree
from test_joint_snapshot import CALLS, NAMES, answer, filled

from satchel.errors import SatchelError
from satchel.library.grants import Grant
from satchel.library.library import Library

sys.path.insert(0, str(Path(__file__).parents[1] / "packing"))
from random_repositories import WORDS, make_repository, name_in

_GROUPS = {"shop": ("web",), "shop-api": ("web", "core"), "shop.js": (), "till": ("core",)}


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("repositories")
    return {name: age(make_tree(base / name, make_repository(40 + n))) for n, name in enumerate(NAMES)}


def make_library(folder: Path, roots: dict[str, Path], names: tuple[str, ...]) -> Library:
    library = Library.open(str(folder))
    library.catalogue.create()
    for name in names:
        library.add(str(roots[name]), name=name, groups=_GROUPS[name])
    return library


@pytest.mark.parametrize(
    ("grant", "seen"),
    [
        (Grant(("till",)), ("till",)),
        (Grant(("shop*",)), ("shop", "shop-api", "shop.js")),
        (Grant((), ("core",)), ("shop-api", "till")),
        (Grant(("shop",), ("core",)), ("shop", "shop-api", "till")),
    ],
)
def test_every_answer_is_that_of_a_library_without_the_others(
    grant: Grant, seen: tuple[str, ...], roots: dict[str, Path], tmp_path: Path
) -> None:
    make_library(tmp_path / "all" / "library", roots, NAMES)
    some = make_library(tmp_path / "some" / "library", roots, seen)
    granted = Library.open(tmp_path / "all" / "library", grant)
    assert [one.name for one in granted.repositories()] == [one.name for one in some.repositories()]
    assert said(granted, "hidden") == said(some, "hidden")
    rng = random.Random(f"grant {seen}")
    with granted.engine() as engine, some.engine() as other:
        engine.ensure_fresh()
        other.ensure_fresh()
        for action, payload in (*CALLS, ("get", {"ids": ["till/none.py", "shop/none.py:1:2"]})):
            words = {"words": " ".join(rng.sample(WORDS, 2)), "word": rng.choice(WORDS), "name": name_in(rng)}
            asked = filled(payload, **words)
            found, expected = answer(engine, action, asked), answer(other, action, asked)
            assert found == expected, (action, asked)
            hidden = [name for name in NAMES if name not in seen and f'"{name}/' in found]
            assert not hidden or action == "get", hidden  # `get` repeats what was asked


def said(library: Library, pattern: str) -> str:
    """What is said of a name that no visible repository has."""
    with pytest.raises(SatchelError) as caught:
        library.engine([pattern])
    return str(caught.value.as_dict())


def test_a_grant_of_nothing_sees_nothing(roots: dict[str, Path], tmp_path: Path) -> None:
    make_library(tmp_path / "library", roots, NAMES)
    nobody = Library.open(tmp_path / "library", Grant(()))
    assert nobody.repositories() == []
    with nobody.engine() as engine, pytest.raises(SatchelError, match="no repository of the library"):
        engine.search("basket")
