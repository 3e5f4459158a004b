"""The signals of meaning: what a file speaks of, in whatever words."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine, signals

from satchel import plugins

NAMES = plugins.load("signal", "meaning").signals
TREE = {
    "near.py": "def remove_directory(directory):\n    unlink(directory)  # zqxj\n",
    "middle.py": "def send_message(queue):\n    publish(queue)  # zqxj\n",
    "far.py": "def draw_pixel(color):\n    render(font, image)  # zqxj\n",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_speaks_of_the_same_thing_comes_nearest(tmp_path: Path, name: str) -> None:
    found = signals(memory_engine(make_tree(tmp_path, TREE)), "delete folder zqxj", "meaning")[name]
    assert found["near.py"] == 1.0 > found["middle.py"] and found["near.py"] > found["far.py"]


@pytest.mark.parametrize("name", NAMES)
def test_the_middle_of_the_candidates_is_zero(tmp_path: Path, name: str) -> None:
    found = signals(memory_engine(make_tree(tmp_path, TREE)), "delete folder zqxj", "meaning")[name]
    assert sorted(found.values())[1] == 0.0 > sorted(found.values())[0]


def test_one_candidate_alone_is_in_the_middle(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"near.py": TREE["near.py"]}))
    assert all(values == {"near.py": 0.0} for values in signals(engine, "delete zqxj", "meaning").values())


def test_words_that_the_model_does_not_know_mean_nothing(tmp_path: Path) -> None:
    assert signals(memory_engine(make_tree(tmp_path, TREE)), "zqxj", "meaning") == {}


def test_an_index_without_vectors_has_no_meaning(tmp_path: Path, without_vectors: None) -> None:
    engine = memory_engine(make_tree(tmp_path, TREE))
    assert signals(engine, "delete folder zqxj", "meaning") == {} and engine.profile == "fast"
