"""The signals of mentions: paths and stack frames that a query names."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Files, make_tree, memory_engine, signals

TREE: Files = {
    "shop/till/drawer.py": "drawer = 1\n",
    "shop/till/slot.py": "slot = 1\n",
    "shop/main.py": "main = 1\n",
    "tests/test_drawer.py": "drawer = 1\n",
    "other/slot.py": "slot = 1\n",
}
TRACE = """\
It jams

Traceback (most recent call last):
  File "/srv/app/shop/main.py", line 3, in main
    slot()
  File "/srv/app/shop/till/slot.py", line 3, in slot
    drawer()
  File "/srv/app/shop/till/drawer.py", line 3, in drawer
    raise ValueError
ValueError: jam
"""


def mentions(tmp_path: Path, query: str, tree: Files = TREE) -> dict[str, dict[str, float]]:
    return signals(memory_engine(make_tree(tmp_path, tree)), query, "mentions")


@pytest.mark.parametrize(
    "path", ["shop/till/drawer.py", "till/drawer.py", "./shop/till/drawer.py:7", "C:\\app\\till\\drawer.py"]
)
def test_a_file_named_by_its_path_is_mentioned(tmp_path: Path, path: str) -> None:
    found = mentions(tmp_path, f"the drawer and slot of {path} jam")["mentioned"]
    assert found["shop/till/drawer.py"] == 1.0 and sum(found.values()) == 1.0


def test_a_file_named_without_its_folder_counts_less(tmp_path: Path) -> None:
    found = mentions(tmp_path, "the drawer of drawer.py jams")["mentioned"]
    assert 0 < found["shop/till/drawer.py"] < 1


def test_files_of_one_name_share_a_mention(tmp_path: Path) -> None:
    alone = mentions(tmp_path / "one", "drawer of drawer.py")["mentioned"]["shop/till/drawer.py"]
    found = mentions(tmp_path / "two", "slot of slot.py")["mentioned"]
    assert found["shop/till/slot.py"] == found["other/slot.py"] == pytest.approx(alone / 2)


def test_a_name_that_many_files_have_mentions_none(tmp_path: Path) -> None:
    tree = {f"n{number}/slot.py": "slot = 1\n" for number in range(4)}
    assert not any(mentions(tmp_path, "slot of slot.py", tree)["mentioned"].values())


def test_a_path_that_does_not_exist_mentions_nothing(tmp_path: Path) -> None:
    assert not any(mentions(tmp_path, "drawer of shop/till/lever.py")["mentioned"].values())


def test_the_deepest_frame_counts_most_and_each_outer_one_less(tmp_path: Path) -> None:
    found = mentions(tmp_path, TRACE)
    order = ("shop/till/drawer.py", "shop/till/slot.py", "shop/main.py")
    values = [found["traceback"][path] for path in order]
    assert values[0] == 1.0 > values[1] > values[2] > 0
    assert found["deepest_frame"]["shop/till/drawer.py"] == 1.0 == sum(found["deepest_frame"].values())


def test_frames_in_tests_are_left_aside(tmp_path: Path) -> None:
    trace = TRACE.replace(
        "ValueError: jam", '  File "/srv/app/tests/test_drawer.py", line 1, in check\nX: jam'
    )
    found = mentions(tmp_path, trace)
    assert found["traceback"]["tests/test_drawer.py"] == 0.0
    assert found["deepest_frame"]["shop/till/drawer.py"] == 1.0


def test_frames_of_files_that_are_not_here_are_nothing(tmp_path: Path) -> None:
    trace = TRACE.replace("shop/till/drawer.py", "json/decoder.py")
    found = mentions(tmp_path, trace)
    assert found["traceback"]["shop/till/slot.py"] == 1.0 == found["deepest_frame"]["shop/till/slot.py"]


def test_without_a_trace_there_is_no_frame(tmp_path: Path) -> None:
    found = mentions(tmp_path, "drawer of shop/till/drawer.py")
    assert not any(found["traceback"].values()) and not any(found["deepest_frame"].values())


def test_a_frame_of_a_foreign_file_is_not_that_of_the_same_name(tmp_path: Path) -> None:
    query = 'It jams\n\nTraceback (most recent call last):\n  File "/usr/lib/json/main.py", line 3, in load\n'
    assert not any(mentions(tmp_path, query)["traceback"].values())


@pytest.mark.parametrize(
    "written", ["ol.format.Till", "ol/format/Till", "Ol::Format::Till", "format.till.open()"]
)
def test_a_qualified_name_means_the_file_of_its_folder_and_name(tmp_path: Path, written: str) -> None:
    tree = dict.fromkeys(
        ["src/ol/format/till.js", "src/ol/source/till.js", "src/ol/format/drawer.js"], "till open\n"
    )
    found = signals(memory_engine(make_tree(tmp_path, tree)), f"{written} jams", "mentions")["qualified"]
    assert found == {
        "src/ol/format/till.js": 1.0,
        "src/ol/source/till.js": 0.0,
        "src/ol/format/drawer.js": 0.0,
    }


def test_a_rare_name_points_at_the_few_files_of_code_that_hold_it(tmp_path: Path) -> None:
    tree: Files = {
        "shop/options.py": 'KEYS = {"drawer_policy": 1}\n',
        "shop/main.py": "policy = drawer = 1\n",
        "docs/options.md": "Set `drawer_policy` to 2.\n",
        **{f"tests/case{number}.py": 'text = "drawer_policy"\n' for number in range(9)},
    }
    found = mentions(tmp_path, "what does drawer_policy do", tree)["rare_name"]
    assert [path for path, value in found.items() if value] == ["shop/options.py"]


def test_a_name_in_many_files_of_code_points_at_none(tmp_path: Path) -> None:
    tree = {f"shop/options{number}.py": 'text = "drawer_policy"\n' for number in range(4)}
    assert not any(mentions(tmp_path, "what does drawer_policy do", tree)["rare_name"].values())


@pytest.mark.parametrize("query", ["drawer_policy", "drawerPolicy", "drawer-policy", "--drawer-policy"])
def test_a_name_alone_points_at_all_code_that_holds_it(tmp_path: Path, query: str) -> None:
    tree: Files = {
        "shop/drawer.py": "policy = drawer = 1\n",
        "tests/test_options.py": 'text = "drawer_policy"\n',
        **{f"shop/options{number}.py": "print(drawer_policy)\n" for number in range(4)},
    }
    found = mentions(tmp_path, query, tree)["rare_name"]
    assert [path for path, value in found.items() if value] == [f"shop/options{n}.py" for n in range(4)]
