"""Numbers of things are written as people write them."""

from __future__ import annotations

import pytest

from satchel.wording import counted


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        (counted(0, "file"), "0 files"),
        (counted(1, "file"), "1 file"),
        (counted(2302, "file"), "2,302 files"),
        (counted(1, "match", "matches"), "1 match"),
        (counted(3, "match", "matches"), "3 matches"),
    ],
)
def test_a_number_has_its_noun(told: str, wanted: str) -> None:
    assert told == wanted
