"""A tokenizer given by the path of its file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from token_files import LIMIT, WORDS, write_tokenizer

from satchel import tokenizers
from satchel.errors import ConfigError, SatchelError, Unsupported


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_tokenizer(tmp_path)


def test_it_is_named_after_its_file_alone(path: Path) -> None:
    tokenizer = tokenizers.get(str(path))
    assert (tokenizer.name, tokenizer.exact) == ("tokenizer.json", True)


def test_its_count_is_that_of_its_own_pairs(path: Path) -> None:
    count = tokenizers.get(str(path)).count
    assert count("the basket") == 2 and count("q#") == 2


def test_truncation_in_the_file_does_not_shorten_a_count(path: Path) -> None:
    assert tokenizers.get(str(path)).count(WORDS[0] * 50) > 2 * LIMIT


def test_neither_padding_nor_the_frame_lengthens_a_count(path: Path) -> None:
    assert tokenizers.get(str(path)).count("#") == 1


def test_a_changed_file_is_read_again(path: Path) -> None:
    before = tokenizers.get(str(path)).count("the basket")
    path.write_text(path.read_text().replace('"truncation"', '"truncation" '))
    assert tokenizers.get(str(path)).count("the basket") == before
    path.write_text("{}")
    with pytest.raises(ConfigError):
        tokenizers.get(str(path))


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"secret": 1', b'{"model": {"type": "BPE"}}'])
def test_a_broken_file_is_an_error_that_quotes_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "own.json").write_bytes(content)
    with pytest.raises(ConfigError, match=r"own\.json is not a tokenizer") as error:
        tokenizers.get(str(tmp_path / "own.json"))
    assert_tells_no_path(error.value, tmp_path)


@pytest.mark.parametrize("name", ["no/such/tokenizer.json", "missing.json", "folder/", "../x"])
def test_a_missing_file_is_an_error_with_a_hint(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no tokenizer file") as error:
        tokenizers.get(str(tmp_path / name) if name[0] != "m" else name)
    assert_tells_no_path(error.value, tmp_path)


def test_a_missing_package_is_an_error_that_says_what_to_install(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(Unsupported, match="not installed") as error:
        tokenizers.get(str(path))
    assert "satchel-context[huggingface]" in error.value.hint


def assert_tells_no_path(error: SatchelError, folder: Path) -> None:
    assert str(folder) not in str(error.as_dict()) and error.hint
