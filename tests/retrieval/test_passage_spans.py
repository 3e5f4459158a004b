"""Passage spans: a file is divided once for a generation, and what was kept goes with the generation."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel.engine import Engine
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.passage_spans import file_passages, unit_passage


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("cuts"), SHOP))


def test_a_file_is_cut_once(shop: Engine) -> None:
    corpus = shop.corpus()
    assert file_passages(corpus, 0) is file_passages(corpus, 0)
    assert unit_passage(corpus, 0, 0) is unit_passage(corpus, 0, 0)


def test_the_passages_of_a_file_hold_each_of_its_units_once(shop: Engine) -> None:
    corpus = shop.corpus()
    for at, record in enumerate(corpus.files):
        units = [
            unit
            for span in file_passages(corpus, at).spans
            for unit in range(span.first_unit, span.stop_unit)
        ]
        assert units == list(range(record.unit_count))


def test_users_are_the_passages_with_the_use_in_their_lines(shop: Engine) -> None:
    corpus = shop.corpus()
    for at, record in enumerate(corpus.files):
        file = file_passages(corpus, at)
        for name, line in corpus.uses(record.path):
            assert any(
                file.spans[number].first_line <= line <= file.spans[number].last_line
                for number in file.users(corpus)[name]
            )


def test_what_is_cached_goes_with_its_generation(tmp_path: Path) -> None:
    corpus = Corpus(memory_engine(make_tree(tmp_path, SHOP)).snapshot())
    file = file_passages(corpus, 0)
    file.traits(corpus, 0)
    file.users(corpus)
    gone = weakref.ref(file)
    del file, corpus
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        (
            "hooks.rb",
            "# frozen_string_literal: true\n\nrequire 'set'\n\nManager.after_login do |user|\nend\n",
            5,
        ),
        ("tool.py", '"""What it is."""\nimport os\n\nos.umask(0)\n', 4),
        ("site.yml", "# of the site\nname: shop\n", 2),
        ("notes.txt", "* first things\nthen others\n", 1),
        ("only.py", "# nothing else is here\n", 1),
    ],
)
def test_code_without_definitions_is_named_by_what_follows_its_comments_and_imports(
    tmp_path: Path, path: str, text: str, line: int
) -> None:
    corpus = memory_engine(make_tree(tmp_path, {path: text})).corpus()
    assert file_passages(corpus, 0).traits(corpus, 0).head == (line, line)


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("static int\nparse(char *text,\n      int size)\n{\n  return size;\n}\n", 3),
        ("int parse(void)\n{\n  return 1;\n}\n", 1),
    ],
)
def test_a_signature_goes_on_to_the_name_and_the_end_of_its_parameters(
    tmp_path: Path, text: str, last: int
) -> None:
    corpus = memory_engine(make_tree(tmp_path, {"parse.c": text})).corpus()
    assert file_passages(corpus, 0).traits(corpus, 0).head == (1, last)
