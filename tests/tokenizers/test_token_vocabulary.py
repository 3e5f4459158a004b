"""The part of a vocabulary that serves a text holds every entry that occurs in it."""

from __future__ import annotations

from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.tokenizers import cl100k, o200k, vocabulary

WORDS = list(vocabulary.load("o200k").all_ranks())
PAGE = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_bytes()


def part_for(content: bytes) -> dict[bytes, int]:
    known = vocabulary.no_slots()
    known[vocabulary.slots_of(content)] = True
    return vocabulary.load("o200k").ranks_within(known)


@given(entries=st.lists(st.integers(0, 199_997), min_size=1, max_size=30))
@settings(deadline=None, max_examples=30)
def test_entries_that_a_text_is_made_of_are_in_its_part(entries: list[int]) -> None:
    part = part_for(b"".join(WORDS[rank] for rank in entries))
    assert {part[WORDS[rank]] for rank in entries} == set(entries)


def test_every_entry_that_occurs_is_in_the_part() -> None:
    part = part_for(PAGE)
    occurring = {entry: rank for rank, entry in enumerate(WORDS) if entry in PAGE}
    assert occurring.items() <= part.items() and len(occurring) > 1_000


def test_single_bytes_are_always_in_the_part() -> None:
    assert {bytes([value]) for value in range(256)} <= part_for(b"").keys()


def test_the_part_is_small() -> None:
    assert len(part_for(PAGE)) < len(WORDS) / 15


def test_what_is_packed_is_read_and_found() -> None:
    entries = [b"a", b"\xff", b"bc", b"def", b"ghij", b"k1l2m3n", b"opqrstuvwxyz"]
    made = vocabulary.BytePairVocabulary(vocabulary.packed(entries))
    assert list(made.all_ranks()) == entries
    known = vocabulary.no_slots()
    assert list(made.ranks_within(known)) == [b"a", b"\xff", b"bc"]
    known[vocabulary.slots_of(b"ghijk9l9m9n def")] = True  # a digit is as good as another
    assert list(made.ranks_within(known)) == entries[:-1]


@pytest.mark.parametrize("size", [0, 7, 12, 100, 1_000_000, -1])
def test_a_cut_file_is_not_taken_for_a_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    (tmp_path / "short.bin").write_bytes((vocabulary.DATA / "o200k.bin").read_bytes()[:size])
    monkeypatch.setattr(vocabulary, "DATA", tmp_path)
    with pytest.raises(ValueError, match="not a whole vocabulary"):
        vocabulary.load("short")


@pytest.mark.parametrize("pattern", [o200k.PATTERN, cl100k.PATTERN], ids=["o200k", "cl100k"])
@given(text=st.text(alphabet="aZé1²'\u2019/\\.\"# \t\n\r\x0b\xa0中🙂\u0301", max_size=40))
@settings(deadline=None, max_examples=120)
def test_no_slot_of_a_piece_is_left_out(pattern: str, text: str) -> None:
    known = vocabulary.no_slots()
    known[vocabulary.slots_in_pieces(text.encode())] = True
    for piece in regex.findall(pattern, text):
        assert known[vocabulary.slots_of(piece.encode())].all()
