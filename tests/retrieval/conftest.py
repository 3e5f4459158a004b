from __future__ import annotations

import pytest


@pytest.fixture
def without_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is near in meaning. Words of a path enter the vector of its file, so with vectors two files of one text
    are not equal."""
    monkeypatch.setattr("satchel.embedding.word_vectors.load", lambda: None)
