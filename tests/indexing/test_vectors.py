"""Vectors of units and files: one for each unit, none without units, whatever shares a batch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from satchel.chunking import parse_source
from satchel.embedding.pooling import LENGTH
from satchel.embedding.word_vectors import WordVectors, load
from satchel.ids import hash_bytes
from satchel.indexing.analysis import AnalysedFile, analyse_source, with_vectors
from satchel.indexing.term_collector import TermCollector
from satchel.languages import detect
from satchel.types import FileEntry, Source

TREE = {
    "blank.py": "\n\n",
    "delete.py": "def delete_folder(folder):\n    remove(folder)\n",
    "empty.md": "",
    "long.py": "".join(f"def parse_token_{n}(text):\n    return text.split({n})\n\n\n" for n in range(40)),
    "zzz.txt": "qqqqq zzzzz\n",
    "last.md": "# Thread\n\nA mutex guards the thread.\n",
}


@pytest.fixture
def words() -> WordVectors:
    found = load()
    assert found is not None
    return found


def analysed(tree: Mapping[str, str], words: WordVectors | None) -> dict[str, AnalysedFile]:
    """The files of one batch."""
    collector = TermCollector()
    files = []
    for path, text in tree.items():
        language = detect(path)
        source = Source(path, text, language, "utf-8", hash_bytes(text.encode()), len(text))
        entry = FileEntry(path, source.size, 1)
        files.append(analyse_source(source, entry, parse_source(text, language), collector))
    return {file.record.path: file for file in with_vectors(files, collector.batch(), words)}


def test_every_unit_has_a_vector_and_so_has_every_file(words: WordVectors) -> None:
    for file in analysed(TREE, words).values():
        assert len(file.packed.vectors) == file.packed.unit_count * words.dimensions
        assert len(file.vector) == (words.dimensions if file.packed.unit_count else 0)


@pytest.mark.parametrize("path", ["blank.py", "empty.md"])
def test_a_file_without_units_has_no_vector(words: WordVectors, path: str) -> None:
    for tree in (TREE, {path: TREE[path]}):
        file = analysed(tree, words)[path]
        assert (file.packed.unit_count, file.packed.vectors, file.vector) == (0, b"", b"")


def test_one_batch_gives_what_many_batches_give(words: WordVectors) -> None:
    together = analysed(TREE, words)
    backwards = analysed(dict(reversed(TREE.items())), words)
    alone = {path: analysed({path: text}, words)[path] for path, text in TREE.items()}
    assert together == alone == backwards


def near(first: bytes, second: bytes) -> int:
    return int(np.frombuffer(first, np.int8).astype(int) @ np.frombuffer(second, np.int8).astype(int))


def test_a_file_of_many_units_has_their_common_direction(words: WordVectors) -> None:
    file = analysed(TREE, words)["long.py"]
    units = np.frombuffer(file.packed.vectors, np.int8).reshape(file.packed.unit_count, -1).astype(int)
    own = np.frombuffer(file.vector, np.int8).astype(int)
    assert len(units) > 1 and all(unit @ own > 0.7 * LENGTH**2 for unit in units)


def test_a_file_comes_near_to_what_its_path_says(words: WordVectors) -> None:
    text = "def run(value):\n    return value\n"
    files = analysed({"mutex/thread.py": text, "run.py": text, "lock.py": "mutex_thread = lock\n"}, words)
    lock = files["lock.py"].vector
    assert near(files["mutex/thread.py"].vector, lock) > near(files["run.py"].vector, lock)


def test_a_file_comes_near_to_what_its_opening_comment_says(words: WordVectors) -> None:
    body = "def run(value):\n    return value\n" + "    # nothing\n" * 3
    files = analysed(
        {"a/x.py": f'"""Locks threads."""\n{body}', "b/x.py": body, "lock.py": "lock = thread\n"}, words
    )
    lock = files["lock.py"].vector
    assert near(files["a/x.py"].vector, lock) > near(files["b/x.py"].vector, lock)


def test_words_that_the_model_does_not_know_give_a_zero_vector(words: WordVectors) -> None:
    file = analysed({"qxzvw.txt": "qxzvwq wvzqx\n"}, words)["qxzvw.txt"]
    assert file.packed.unit_count == 1 and set(file.vector) == {0}


def test_without_a_model_there_are_no_vectors() -> None:
    assert all(file.packed.vectors == b"" == file.vector for file in analysed(TREE, None).values())
