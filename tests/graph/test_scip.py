"""A SCIP index adds sure edges, for as long as its documents describe the files as they are."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import dump, git, git_repo, make_engine, make_tree, memory_engine, run_cli, session_of
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import store_place
from scip_project import (
    LONG_AGO,
    PROJECT,
    PYTHON,
    TYPESCRIPT,
    Document,
    Occurrence,
    fresh,
    make_project,
    write_scip,
)

from satchel import plugins
from satchel.engine import Engine
from satchel.errors import FileNotFound, IndexCorrupt, InvalidRequest, PathNotAllowed, SatchelError
from satchel.storage import open_store
from satchel.types import ResolvedReference

APP, BASKET, REPORT = "src/app.ts", "src/basket.ts", "tools/report.py"
TOTALS = {
    "Basket.total": {f"{APP}:8", f"{APP}:9"},
    "Till.total": {f"{APP}:13"},
    "Ledger.total": {f"{REPORT}:7"},
    "Account.total": {f"{REPORT}:11"},
}
"""Which lines use each method: nothing but the types that a compiler infers tells them apart."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "shop")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [fresh(file, tmp_path / "scip") for file in (TYPESCRIPT, PYTHON)]


def scip_uses(engine: Engine, name: str) -> set[str]:
    """Return the places of the uses of a name that SCIP decided."""
    return {f"{use.path}:{use.line}" for use in engine.references(name) if use.rule == "scip"}


def sure_uses(engine: Engine, name: str) -> list[ResolvedReference]:
    return [use for use in engine.references(name) if use.is_sure]


def all_totals(engine: Engine) -> dict[str, set[str]]:
    return {name: scip_uses(engine, name) for name in TOTALS}


def counts(engine: Engine) -> tuple[int, int, int]:
    response = plugins.load("command", "status").run(engine, plugins.load("command", "status").request())
    return (
        (response.scip.believed, response.scip.stale, response.scip.unknown) if response.scip else (0, 0, 0)
    )


def edit(root: Path, path: str, text: str) -> None:
    make_tree(root, {path: text})
    time.sleep(0.045)


@pytest.mark.parametrize("scheme", plugins.names("store"))
def test_a_real_index_decides_what_rules_leave_open(
    project: Path, files: list[Path], tmp_path: Path, scheme: str
) -> None:
    engine = make_engine(project, open_store(store_place(scheme, tmp_path / "index")))
    engine.refresh()
    assert not any(map(sure_uses_of(engine), TOTALS))
    engine.refresh(scip=files)
    assert all_totals(engine) == TOTALS
    assert counts(engine) == (6, 0, 0)
    engine.close()


def sure_uses_of(engine: Engine) -> Any:
    return lambda name: sure_uses(engine, name)


def test_from_the_command_line(project: Path, files: list[Path]) -> None:
    def ask(*words: object) -> Any:
        done = run_cli(*words, "--segment", project, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def lines() -> list[tuple[str, int, str]]:
        found = ask("refs", "Basket.total")
        return [(item["path"], item["line"], item["rule"]) for item in found["references"]]

    said = ask("index", "--scip", files[0], "--scip", files[1])
    assert said["scip"] == {"believed": 6, "stale": 0, "unknown": 0}
    assert lines() == [(APP, 8, "scip"), (APP, 9, "scip")]
    edit(project, APP, PROJECT[APP] + "\nreceipt();\n")
    assert lines() == []
    assert ask("status")["scip"] == {"believed": 5, "stale": 1, "unknown": 0}
    assert b"5 believed, 1 stale, 0 unknown" in run_cli("status", "--segment", project).stdout
    assert ask("index", "--no-scip")["scip"] is None
    assert "scip" not in ask("status")


def test_a_changed_file_is_left_to_the_rules_and_comes_back(project: Path, files: list[Path]) -> None:
    engine = memory_engine(project)
    engine.refresh(scip=files)
    edit(project, APP, PROJECT[APP].replace("baskets.map((basket)", "baskets.map((basket: Basket)"))
    engine.refresh()
    assert not scip_uses(engine, "Basket.total") and counts(engine) == (5, 1, 0)
    assert [(use.line, use.rule) for use in sure_uses(engine, "Basket.total")] == [(8, "annotation")]
    edit(project, APP, PROJECT[APP])
    engine.refresh()
    assert all_totals(engine) == TOTALS and counts(engine) == (6, 0, 0)


def test_an_edge_holds_while_its_target_stands(project: Path, files: list[Path]) -> None:
    engine = memory_engine(project)
    engine.refresh(scip=files)
    edit(project, BASKET, "// moved down\n\n" + PROJECT[BASKET])
    engine.refresh()
    assert scip_uses(engine, "Basket.total") == TOTALS["Basket.total"]
    edit(
        project,
        BASKET,
        PROJECT[BASKET].replace("  total(): number {\n    return this", "  sum() {\n    return this"),
    )
    engine.refresh()
    assert (
        not scip_uses(engine, "total")
        - TOTALS["Till.total"]
        - TOTALS["Ledger.total"]
        - TOTALS["Account.total"]
    )
    assert scip_uses(engine, "Till.total") == TOTALS["Till.total"]
    (project / BASKET).unlink()
    engine.refresh()
    assert not scip_uses(engine, "Till.total")
    edit(project, BASKET, PROJECT[BASKET])
    engine.refresh()
    assert all_totals(engine) == TOTALS


def test_a_document_of_another_version_is_refused(project: Path, files: list[Path]) -> None:
    edit(project, APP, "// one line more\n" + PROJECT[APP])
    os.utime(project / APP, (LONG_AGO, LONG_AGO))
    engine = memory_engine(project)
    engine.refresh(scip=files)
    assert counts(engine) == (5, 1, 0) and not scip_uses(engine, "Basket.total")
    assert scip_uses(engine, "Ledger.total") == TOTALS["Ledger.total"]


def test_a_file_that_is_newer_than_the_scip_file_is_refused(project: Path, files: list[Path]) -> None:
    os.utime(project / REPORT, (time.time() + 60, time.time() + 60))
    engine = memory_engine(project)
    engine.refresh(scip=files)
    assert counts(engine) == (5, 1, 0) and not scip_uses(engine, "Ledger.total")


def test_one_edited_word_of_the_same_length_makes_no_wrong_edge(project: Path, files: list[Path]) -> None:
    edit(project, REPORT, PROJECT[REPORT].replace("ledger.total()", "ledger.tonal()"))
    os.utime(project / REPORT, (LONG_AGO, LONG_AGO))
    engine = memory_engine(project)
    engine.refresh(scip=files)
    assert not scip_uses(engine, "Ledger.total")


def test_files_that_are_not_indexed_are_unknown(project: Path, files: list[Path]) -> None:
    (project / REPORT).unlink()
    make_tree(project, {".gitignore": "pick.ts\n"})
    engine = memory_engine(project)
    engine.refresh(scip=files)
    assert counts(engine) == (4, 0, 2)


def test_the_last_call_says_which_files_count(project: Path, files: list[Path]) -> None:
    engine = memory_engine(project)
    engine.refresh(scip=files)
    engine.refresh(scip=files[:1])
    assert all_totals(engine) == {**TOTALS, "Ledger.total": set(), "Account.total": set()}
    engine.refresh()
    assert counts(engine) == (3, 0, 0)
    plain = memory_engine(project)
    engine.refresh(scip=[])
    assert dump(engine) == dump(plain) and counts(engine) == (0, 0, 0)


def test_a_rebuild_by_force_keeps_them(project: Path, files: list[Path], tmp_path: Path) -> None:
    engine = make_engine(project, index_dir=tmp_path / "index")
    engine.refresh(scip=files)
    before = dump(engine)
    engine.refresh(force=True)
    assert dump(engine) == before and all_totals(engine) == TOTALS
    engine.close()


def test_an_index_that_is_built_anew_says_that_they_are_gone(
    project: Path, files: list[Path], tmp_path: Path
) -> None:
    engine = make_engine(project, index_dir=tmp_path / "index")
    engine.refresh(scip=files)
    engine.release()
    (tmp_path / "index" / "context.db").write_bytes(b"no index at all" * 1000)
    engine.refresh()
    assert any("satchel index --scip FILE" in note for note in engine.notes)
    assert counts(engine) == (0, 0, 0) and not scip_uses(engine, "Till.total")
    engine.release()
    (tmp_path / "index" / "context.db").write_bytes(b"no index at all" * 1000)
    engine.refresh(scip=files)
    assert not any("--scip" in note for note in engine.notes) and all_totals(engine) == TOTALS
    engine.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM scip WHERE path = 'src/app.ts'",
        "UPDATE scip SET file_hash = 'ab' WHERE path = 'src/app.ts'",
        "UPDATE scip SET path = 'src/other.ts' WHERE path = 'src/app.ts'",
        "UPDATE scip SET data = (SELECT data FROM scip WHERE path = 'src/pick.ts') WHERE path = 'src/app.ts'",
    ],
)
def test_damage_is_noticed(project: Path, files: list[Path], tmp_path: Path, statement: str) -> None:
    engine = make_engine(project, index_dir=tmp_path / "index")
    engine.refresh(scip=files)
    engine.close()
    with closing(sqlite3.connect(tmp_path / "index" / "context.db")) as connection:
        assert connection.execute(statement).rowcount
        connection.commit()
    snapshot = make_engine(project, index_dir=tmp_path / "index").snapshot()
    with closing(snapshot), pytest.raises(IndexCorrupt, match="SCIP"):
        snapshot.scip_documents()
        snapshot.scip_uses(APP)


def test_the_index_of_a_commit_has_none(tmp_path: Path, files: list[Path]) -> None:
    root = git_repo(tmp_path / "shop", PROJECT)
    git(root, "commit", "-q", "--allow-empty", "-m", "the same files")
    for path in PROJECT:
        os.utime(root / path, (LONG_AGO, LONG_AGO))
    engine = make_engine(root, index_dir=tmp_path / "index")
    engine.refresh(scip=files)
    with engine.at("HEAD") as past:
        assert not any(scip_uses(past, name) for name in TOTALS) and counts(past) == (0, 0, 0)
    assert all_totals(engine) == TOTALS
    engine.close()


def test_callers_from_elsewhere_name_no_file(project: Path, files: list[Path]) -> None:
    engine = memory_engine(project)
    with session_of(engine, remote=True) as session, pytest.raises(PathNotAllowed):
        session.call("index", {"scip": [str(files[0])]})
    with session_of(engine, remote=False) as session:
        session.call("index", {"scip": [str(file) for file in files]})
    assert all_totals(engine) == TOTALS


def test_both_flags_at_once_are_refused(project: Path, files: list[Path]) -> None:
    engine = memory_engine(project)
    with session_of(engine) as session, pytest.raises(InvalidRequest, match="exclude"):
        session.call("index", {"scip": [str(files[0])], "no_scip": True})


EDITS = st.sampled_from(
    [
        *((path, text) for path, text in PROJECT.items()),
        (APP, PROJECT[APP] + "// more\n"),
        (APP, PROJECT[APP].replace("first(baskets)", "baskets[0]")),
        (BASKET, "\n" + PROJECT[BASKET]),
        (BASKET, PROJECT[BASKET].replace("total()", "sum()")),
        (BASKET, None),
        ("src/pick.ts", 'export { Till as pickFirst } from "./basket";\n'),
        ("tools/ledger.py", "class Ledger:\n    pass\n"),
        ("tools/ledger.py", None),
        (REPORT, None),
    ]
)


@settings(max_examples=25, deadline=None)
@given(edits=st.lists(EDITS, min_size=1, max_size=6))
def test_edges_do_not_depend_on_the_way(edits: list[tuple[str, str | None]]) -> None:
    """After any edits the edges are those of one refresh from the moment of the import, or of a rebuild."""
    with tempfile.TemporaryDirectory() as folder:
        root = make_project(Path(folder) / "shop")
        files = [fresh(file, Path(folder) / "scip") for file in (TYPESCRIPT, PYTHON)]
        step_by_step, at_once = memory_engine(root), memory_engine(root)
        step_by_step.refresh(scip=files)
        at_once.refresh(scip=files)
        for path, text in edits:
            if text is None:
                (root / path).unlink(missing_ok=True)
            else:
                make_tree(root, {path: text})
            step_by_step.refresh(paths=[path])
        at_once.refresh()
        assert every_edge(step_by_step) == every_edge(at_once)
        at_once.refresh(force=True)
        assert every_edge(step_by_step) == every_edge(at_once)


def every_edge(engine: Engine) -> dict[str, Any]:
    with closing(engine.snapshot()) as snapshot:
        paths = [record.path for record in snapshot.files()]
        return dict(zip(paths, snapshot.edges(paths), strict=True))


A, B, USE = "a.py", "b.py", "use.py"
TWO = {
    A: "def total():\n    return 1\n",
    B: "def total():\n    return 2\n",
    USE: "from a import total\n\nprint(total())\n",
}
IN_A, IN_B = "test python . . a/total().", "test python . . b/total()."


def two_files(root: Path, said: str, files: dict[str, str] = TWO) -> Engine:
    """Return the engine of three files, of which the last uses what SCIP says."""
    make_tree(root, files)
    for path in files:
        os.utime(root / path, (LONG_AGO, LONG_AGO))
    engine = memory_engine(root)
    definitions = [
        Document(path, [Occurrence((0, 4, 9), symbol, 1)]) for path, symbol in ((A, IN_A), (B, IN_B))
    ]
    use = Document(USE, [Occurrence((0, 14, 19), said), Occurrence((2, 6, 11), said)])
    engine.refresh(scip=[write_scip(root.parent / "scip" / "index.scip", *definitions, use)])
    return engine


def by_target(engine: Engine) -> list[tuple[int, str, str]]:
    return [(use.line, use.target, use.rule) for use in sure_uses(engine, "total")]


def test_what_rules_decided_alike_is_said_once(tmp_path: Path) -> None:
    engine = two_files(tmp_path / "shop", IN_A)
    assert by_target(engine) == [(1, "a.py:1:2", "import"), (3, "a.py:1:2", "import")]


def test_where_both_decide_differently_scip_wins(tmp_path: Path) -> None:
    engine = two_files(tmp_path / "shop", IN_B)
    assert by_target(engine) == [(1, "b.py:1:2", "scip"), (3, "b.py:1:2", "scip")]


def test_the_rules_win_again_when_what_they_rest_on_changed(tmp_path: Path) -> None:
    """The compiler did not see that `a.py` has another `total` now."""
    engine = two_files(tmp_path / "shop", IN_B)
    edit(tmp_path / "shop", A, "def total():\n    return 1\n\n\ndef sum_up():\n    pass\n")
    engine.refresh()
    assert [(line, target) for line, target, rule in by_target(engine) if rule == "import"] == [
        (1, "a.py:1:2"),
        (3, "a.py:1:2"),
    ]


def test_scip_does_not_overrule_a_use_that_it_may_not_mean(tmp_path: Path) -> None:
    """Of two uses on a line it knows one."""
    files = {**TWO, USE: "from a import total\n\nprint(total(), b.total())\n"}
    make_tree(tmp_path / "shop", files)
    engine = two_files(tmp_path / "shop", IN_B, files)
    assert (3, "a.py:1:2", "import") in by_target(engine) and (3, "b.py:1:2", "scip") in by_target(engine)


def test_a_symbol_with_two_definitions_is_nobodys(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "shop", TWO)
    for path in TWO:
        os.utime(root / path, (LONG_AGO, LONG_AGO))
    engine = memory_engine(root)
    documents = [Document(path, [Occurrence((0, 4, 9), IN_B, 1)]) for path in (A, B)]
    use = Document(USE, [Occurrence((2, 6, 11), IN_B)])
    engine.refresh(scip=[write_scip(tmp_path / "index.scip", *documents, use)])
    assert {rule for *_, rule in by_target(engine)} == {"import"}


@pytest.mark.parametrize(
    "encoding, columns", [(1, (10, 15)), (2, (8, 13)), (3, (7, 12)), (0, (8, 13)), (9, (10, 15))]
)
def test_columns_count_in_the_unit_that_the_document_says(
    tmp_path: Path, encoding: int, columns: tuple[int, int]
) -> None:
    root = make_tree(tmp_path / "shop", {A: TWO[A], USE: 'x = "🧺"; total()\n'})
    columns = (columns[0] + 2, columns[1] + 2)
    for path in (A, USE):
        os.utime(root / path, (LONG_AGO, LONG_AGO))
    engine = memory_engine(root)
    definition = Document(A, [Occurrence((0, 4, 9), IN_A, 1)])
    use = Document(USE, [Occurrence((0, *columns), IN_A)], encoding)
    engine.refresh(scip=[write_scip(tmp_path / "index.scip", definition, use)])
    assert counts(engine) == (2, 0, 0) and scip_uses(engine, "total") == {"use.py:1"}


def test_a_text_inside_the_document_decides(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "shop", TWO)  # newer than the SCIP file
    engine = memory_engine(root)
    same = Document(A, [Occurrence((0, 4, 0, 9), IN_A, 1)], text=TWO[A])
    other = Document(B, [Occurrence((0, 4, 9), IN_B, 1)], text=TWO[B] + "\n")
    file = write_scip(tmp_path / "index.scip", same, other)
    os.utime(file, (LONG_AGO, LONG_AGO))
    engine.refresh(scip=[file])
    assert counts(engine) == (1, 1, 0)


@pytest.mark.parametrize(
    "project_root, prefix, believed",
    [
        ("file://{root}", "", 2),
        ("file://{root}/", "", 2),
        ("file://{above}", "shop/", 2),
        ("file:///somewhere/else", "", 2),
        ("", "", 2),
        ("https://example.org/shop", "", 2),
        ("file://{above}", "", 0),
        ("file:///somewhere/else", "../shop/", 0),
        ("file:///somewhere/else", "{root}/", 0),
    ],
)
def test_paths_are_placed_below_the_root(
    tmp_path: Path, project_root: str, prefix: str, believed: int
) -> None:
    root = make_tree(tmp_path / "shop", TWO)
    places = {"root": root.resolve().as_posix(), "above": root.resolve().parent.as_posix()}
    for path in TWO:
        os.utime(root / path, (LONG_AGO, LONG_AGO))
    engine = memory_engine(root)
    documents = [
        Document(prefix.format(**places) + path, [Occurrence((0, 4, 9), symbol, 1)])
        for path, symbol in ((A, IN_A), (B, IN_B))
    ]
    file = write_scip(tmp_path / "i.scip", *documents, project_root=project_root.format(**places))
    engine.refresh(scip=[file])
    assert counts(engine) == (believed, 0, 2 - believed)


def test_an_index_of_a_folder_below_the_root(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "shop", {f"packages/one/{path}": text for path, text in TWO.items()})
    for path in TWO:
        os.utime(root / "packages/one" / path, (LONG_AGO, LONG_AGO))
    engine = memory_engine(root)
    below = (root / "packages/one").resolve().as_posix()
    document = Document(A, [Occurrence((0, 4, 9), IN_A, 1)])
    engine.refresh(scip=[write_scip(tmp_path / "i.scip", document, project_root=f"file://{below}")])
    assert counts(engine) == (1, 0, 0)


def test_a_language_without_rules_gets_edges(tmp_path: Path) -> None:
    files = {"a.lua": "function open_till()\nend\n", "use.lua": "open_till()\n"}
    root = make_tree(tmp_path / "shop", files)
    for path in files:
        os.utime(root / path, (LONG_AGO, LONG_AGO))
    engine = memory_engine(root)
    symbol = "test lua . . a/open_till()."
    documents = (
        Document("a.lua", [Occurrence((0, 9, 18), symbol, 1)]),
        Document("use.lua", [Occurrence((0, 0, 9), symbol)]),
    )
    engine.refresh(scip=[write_scip(tmp_path / "index.scip", *documents)])
    assert scip_uses(engine, "open_till") == {"use.lua:1"}
    (use,) = [use for use in engine.references("open_till") if use.rule == "scip"]
    assert use.label == "calls"
    edit(root, "a.lua", "function close_till()\nend\n")
    engine.refresh()
    assert not scip_uses(engine, "open_till")
    edit(root, "a.lua", files["a.lua"])
    engine.refresh()
    assert scip_uses(engine, "open_till") == {"use.lua:1"}
    engine.refresh(scip=[])
    assert not scip_uses(engine, "open_till")


def test_a_file_that_is_not_there_changes_nothing(project: Path, files: list[Path], tmp_path: Path) -> None:
    engine = memory_engine(project)
    engine.refresh(scip=files)
    with pytest.raises(FileNotFound, match=r"none\.scip"):
        engine.refresh(scip=[tmp_path / "none.scip"])
    with pytest.raises(SatchelError):
        engine.refresh(scip=[tmp_path])
    assert all_totals(engine) == TOTALS
