"""The parts of `benchmarks/graph` that read and compare, without compilers."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from graph import sampling, truth
from graph.answers import read_row
from graph.edge_scores import score_imports
from graph.python_imports import import_edges
from graph.repositories import Repository
from graph.truth import Definition, ImportEdge, Place, Truth
from graph.use_scores import CHOICES, Case, Score, calibration_table, scores

REPOSITORY = Repository("small", "nobody", "python", 4)


def edges(folder: Path, files: dict[str, str]) -> set[tuple[str, str, bool]]:
    """Return the import edges of some files as source, target and whether it is only implied."""
    found = import_edges(folder, {path: ast.parse(text) for path, text in files.items()})
    return {(edge.source, edge.target, edge.implied) for edge in found}


def test_imports_are_found_as_python_finds_them(tmp_path: Path) -> None:
    files = {
        "src/app/__init__.py": "from .core import run\n",
        "src/app/core.py": "import logging\nfrom . import tools\nfrom .. import nothing\n",
        "src/app/tools.py": "",
        "src/app/logging.py": "",
        "tests/test_core.py": "import app.core\nfrom app import run\nfrom helper import x\n",
        "tests/helper.py": "x = 1\n",
    }
    assert edges(tmp_path, files) == {
        ("src/app/__init__.py", "src/app/core.py", False),
        ("src/app/core.py", "src/app/tools.py", False),
        ("src/app/core.py", "src/app/__init__.py", True),
        ("tests/test_core.py", "src/app/core.py", False),
        ("tests/test_core.py", "src/app/__init__.py", False),
        ("tests/test_core.py", "tests/helper.py", False),
    }


def test_a_package_that_binds_the_name_of_its_module_makes_both_files_right(tmp_path: Path) -> None:
    files = {
        "app/__init__.py": "from . import core\n",
        "app/core.py": "",
        "use.py": "from app import core\n",
    }
    assert {edge for edge in edges(tmp_path, files) if edge[0] == "use.py"} == {
        ("use.py", "app/core.py", True),
        ("use.py", "app/__init__.py", True),
    }


def test_a_project_inside_the_repository_has_its_own_path(tmp_path: Path) -> None:
    (tmp_path / "examples/shop").mkdir(parents=True)
    (tmp_path / "examples/shop/pyproject.toml").touch()
    files = {"examples/shop/cart/__init__.py": "", "examples/shop/tests/test_cart.py": "import cart\n"}
    assert edges(tmp_path, files) == {
        ("examples/shop/tests/test_cart.py", "examples/shop/cart/__init__.py", False)
    }


def definition(name: str, group: str = "function", path: str = "app.py", line: int = 1) -> Definition:
    return Definition(path=path, name=name, qualified_name=name, group=group, ranges=[(line, line + 4)])


def test_samples_share_nothing_and_come_out_the_same_again() -> None:
    def draw() -> list[str]:
        names = [definition(f"f{number}") for number in range(20)]
        names += [definition(f"m{number}", "method") for number in range(3)]
        names += [definition("test_it", path="tests/test_app.py"), definition("__init__", "method")]
        sampling.mark_samples(names, REPOSITORY)
        return [item.sample for item in names]

    drawn = draw()
    assert drawn == draw()
    assert [drawn.count(sample) for sample in sampling.SAMPLES] == [4, 4]
    assert [drawn[20:23].count(sample) for sample in sampling.SAMPLES] == [2, 1]
    assert drawn[23:] == ["", ""]


def test_names_of_a_definition_are_the_first_in_each_range() -> None:
    item = definition("f", line=3)
    item.ranges.append((20, 22))
    item.take_names([Place("app.py", line, 4) for line in (1, 4, 6, 20, 40)])
    item.take_uses([Place("app.py", 4, 4), Place("b.py", 1, 0), Place("b.py", 1, 0)])
    assert [place.line for place in item.names] == [4, 20]
    assert item.uses == [Place("b.py", 1, 0)]


def row(line: int, confidence: float, **fields: object) -> dict[str, object]:
    plain = {"path": "b.py", "line": line, "label": "calls", "name": "f", "target": "app.py:1:5"}
    return {**plain, "confidence": confidence, **fields}


def test_rows_of_both_forms_are_scored() -> None:
    rows = [read_row(row(1, 0.95)), read_row(row(2, 0.4, rule="import", sure=False))]
    assert [(item.rule, item.sure) for item in rows] == [("name", True), ("import", False)]
    item = definition("f")
    item.names = [Place("app.py", 1, 4)]
    true = {("b.py", 1), ("b.py", 3)}
    targets = frozenset({"app.py:1:5"})
    case = Case("small", "python", item, true, {("b.py", 1)}, rows, rows, targets, frozenset({("b.py", 2)}))
    found = scores([case])
    assert found[">= .8"] == found["printed"] == Score(right=1, wrong=0, missed=1)
    assert found["possible too"] == Score(right=1, wrong=1, missed=1)
    assert str(found["possible too"]) == ".50 .50"
    assert set(found) == set(CHOICES)
    assert scores([case], only_direct=True)["printed"] == Score(right=1, wrong=0, missed=0)
    assert [line.split() for line in calibration_table([case])[1:]] == [
        ["python", "name", "0.95", "1", "1.00"],
        ["python", "import", "0.40", "1", "0.00"],
    ]


def test_implied_imports_are_neither_demanded_nor_wrong() -> None:
    class Said:
        def uses(self, path: str, labels: list[str]) -> list[object]:
            said = {"a.py": ["c.py"], "b.py": ["a.py"], "p/__init__.py": ["c.py"]}
            return [read_row(row(1, 0.9, path=source)) for source in said.get(path, [])]

    known = Truth(
        repository="small",
        commit="",
        language="python",
        files=["a.py", "b.py", "c.py", "p/__init__.py", "p/q.py"],
        definitions=[],
        imports=[
            ImportEdge("a.py", "b.py", 1, "b"),
            ImportEdge("c.py", "p/q.py", 1, "p.q"),
            ImportEdge("c.py", "p/__init__.py", 1, "p.q", True),
        ],
    )
    found = score_imports(Said(), known)  # type: ignore[arg-type]
    assert (found.score, found.wrong, found.missed) == (Score(1, 1, 1), ["c.py → a.py"], ["c.py → p/q.py"])


def test_a_truth_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    item = definition("f")
    item.names, item.uses = [Place("app.py", 1, 4)], [Place("b.py", 1, 0)]
    known = truth.collect(REPOSITORY, "c0ffee", ["b.py", "app.py"], [item, definition("lost")])
    truth.write(tmp_path / "truth" / "small.json", known)
    assert truth.read(tmp_path / "truth" / "small.json") == known
    assert known.files == ["app.py", "b.py"]
    assert [each.name for each in known.definitions] == ["f"]
