"""The signals of the graph: files that fit lead to the files whose names they use."""

from __future__ import annotations

from pathlib import Path

from builders import Files, make_tree, memory_engine, signals

USER = "from shop.drawer import TillDrawer\n\n\ndef open_till():\n    # till till\n    TillDrawer().pull()\n"
TREE: dict[str, str | bytes] = {
    "shop/user.py": USER,
    "shop/drawer.py": "class TillDrawer:\n    def pull(self):\n        pass\n",
    "shop/lever.py": "class TillLever:\n    def pull(self):\n        pass\n",
}


def graph(tmp_path: Path, tree: Files, query: str = "till") -> dict[str, dict[str, float]]:
    return signals(memory_engine(make_tree(tmp_path, tree)), query, "graph")


def test_a_file_that_a_fitting_file_uses_is_referred_to(tmp_path: Path) -> None:
    found = graph(tmp_path, TREE)["referred_to"]
    assert found["shop/drawer.py"] == 1.0 and found["shop/lever.py"] == found["shop/user.py"] == 0.0


def test_a_file_that_uses_fitting_files_refers_to_them(tmp_path: Path) -> None:
    found = graph(tmp_path, TREE)["refers_to"]
    assert found["shop/user.py"] == 1.0 and found["shop/drawer.py"] == found["shop/lever.py"] == 0.0


def test_an_import_alone_leads_to_its_file(tmp_path: Path) -> None:
    tree = {"shop/user.py": "import shop.lever\n\ntill = 1\n", "shop/lever.py": "till = 2\n"}
    assert graph(tmp_path, tree)["referred_to"]["shop/lever.py"] == 1.0


def test_tests_lead_nowhere(tmp_path: Path) -> None:
    tree = {"tests/test_user.py": USER, **{path: TREE[path] for path in TREE if path != "shop/user.py"}}
    found = graph(tmp_path, tree)
    assert not any(found["referred_to"].values()) and not any(found["refers_to"].values())


def test_a_name_that_three_files_define_leads_nowhere(tmp_path: Path) -> None:
    user = "def open_till():\n    # till till\n    TillDrawer().pull()\n"
    same = {f"n{number}/part{number}.py": TREE["shop/drawer.py"] for number in range(3)}
    assert not any(graph(tmp_path, {"user.py": user, **same})["referred_to"].values())


def test_a_file_s_own_names_lead_nowhere(tmp_path: Path) -> None:
    tree = {"a.py": "class TillDrawer:\n    pass\n\n\nTillDrawer()\n"}
    assert graph(tmp_path, tree) == {"referred_to": {"a.py": 0.0}, "refers_to": {"a.py": 0.0}}


def test_common_words_lead_nowhere(tmp_path: Path) -> None:
    tree = {"user.py": "till = pull()\n", "lever.py": "def pull():\n    return 'till'\n"}
    assert graph(tmp_path, tree)["referred_to"]["lever.py"] == 0.0
