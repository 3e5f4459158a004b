"""Commits as questions, over real repositories: what is asked, what is left out, what is never touched."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import Repository, git, make_engine, make_tree

from satchel.errors import InvalidRequest, RefNotFound, SatchelError, Unsupported
from satchel.evaluation.cases import Gold
from satchel.evaluation.history import question_of
from satchel.evaluation.run import Run, run_history

FIRST = {
    "src/till.py": "def open_till():\n    return 1\n\n\ndef close_till():\n    return 2\n",
    "notes.md": "# Notes\n\nOld.\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "work")
    made.commit("The first commit of all", FIRST)
    return made


def history(root: Path, wanted: int = 10) -> Run:
    with make_engine(root) as engine:
        return run_history(engine, wanted, lambda text: len(text) / 4)


def left_out(run: Run) -> dict[str, str]:
    return {item.id: item.reason.value for item in run.left_out}


def test_a_message_asks_for_the_lines_it_changed_in_the_parent(repository: Repository) -> None:
    changed = FIRST["src/till.py"].replace("return 2", "return 3")
    commit = repository.commit("Close the till properly\n\nIt was wrong.", {"src/till.py": changed})
    (answer,) = history(repository.root).answers
    assert answer.case.id == commit and answer.case.query == "Close the till properly\n\nIt was wrong."
    assert answer.case.gold == (Gold("src/till.py", 6, 6),)
    assert (answer.case.category, answer.case.language, answer.case.set) == ("code", "python", "history")
    assert answer.results[0].path == "src/till.py" and answer.scores["recall@1"] == 1


def test_the_answer_comes_from_the_parent_not_from_the_work_tree(repository: Repository) -> None:
    repository.commit("Rename open_till to drawer", {"src/till.py": "def drawer():\n    pass\n"})
    (answer,) = history(repository.root).answers
    shown = "".join(item.text for item in answer.results)
    assert "def open_till" in shown and "drawer" not in shown


def test_an_insertion_asks_for_its_two_neighbours(repository: Repository) -> None:
    repository.commit("Say more about notes", {"notes.md": "# Notes\n\nNew.\nOld.\n"})
    repository.commit("Add a last line", {"notes.md": "# Notes\n\nNew.\nOld.\nLast.\n"})
    repository.commit("Add a first line", {"notes.md": "Top.\n# Notes\n\nNew.\nOld.\nLast.\n"})
    spans = [answer.case.gold for answer in history(repository.root).answers]
    assert spans == [(Gold("notes.md", 1, 1),), (Gold("notes.md", 4, 4),), (Gold("notes.md", 2, 3),)]


def test_a_change_of_equal_size_is_seen_by_the_next_question(repository: Repository) -> None:
    for number in (1, 7, 9):
        repository.commit(
            f"Let drawer return {number}", {"drawer.py": f"def drawer():\n    return {number}\n"}
        )
    newest, oldest = history(repository.root).answers
    assert "return 7" in "".join(item.text for item in newest.results)
    assert "return 1" in "".join(item.text for item in oldest.results)


def test_a_renamed_file_is_asked_for_under_its_old_name(repository: Repository) -> None:
    text = FIRST["src/till.py"]
    repository.commit("Move the till elsewhere", {"src/drawer.py": text.replace("2", "5")}, "src/till.py")
    (answer,) = history(repository.root).answers
    assert answer.case.gold == (Gold("src/till.py", 6, 6),)


def test_a_deleted_file_is_gold_with_all_its_lines(repository: Repository) -> None:
    repository.commit("Drop the old notes", None, "notes.md")
    (answer,) = history(repository.root).answers
    assert answer.case.gold == (Gold("notes.md", 1, 3),) and answer.case.category == "docs"


def test_odd_file_names_are_read_as_they_are(repository: Repository) -> None:
    names = ["größe ünï.md", 'quo"te\ttab.md', "日本/語.md", "a\nindex 0..0.md"]
    repository.commit(
        "Four odd names appear", {name: f"# {number}\n\nOne.\n" for number, name in enumerate(names)}
    )
    repository.commit(
        "Change the odd names", {name: f"# {number}\n\nTwo.\n" for number, name in enumerate(names)}
    )
    (answer,) = history(repository.root).answers
    assert {gold.path for gold in answer.case.gold} >= {names[0], names[2]}
    assert {(gold.start_line, gold.end_line) for gold in answer.case.gold} == {(3, 3)}


def test_lines_are_left_open_where_git_counts_them_otherwise(repository: Repository) -> None:
    repository.commit("Old line ends are used", {"mac.md": b"# A\r\rOne.\rTwo.\r"})
    repository.commit("Change the second word", {"mac.md": b"# A\r\rOne.\rThree.\r"})
    (answer,) = history(repository.root).answers
    assert answer.case.gold == (Gold("mac.md"),)


def test_attributes_of_the_work_tree_do_not_hide_lines(repository: Repository) -> None:
    repository.commit("Change the notes alone", {"notes.md": "# Notes\n\nNew.\n"})
    make_tree(repository.root, {".gitattributes": "*.md -diff\n"})
    (answer,) = history(repository.root).answers
    assert answer.case.gold == (Gold("notes.md", 3, 3),)


def test_what_asks_nothing_is_left_out_and_counted(repository: Repository) -> None:
    expected = {}
    expected[repository.commit("wip", {"notes.md": "# Notes\n\nA.\n"})] = "few_words"
    repository.commit(
        "Bring in a manifest file", {"package.json": "{}\n", "CHANGELOG.md": "# Log\n", "notes.md": "# B\n"}
    )
    bump = {"package.json": '{"version": "2"}\n', "CHANGELOG.md": "# Log\n\n2\n"}
    expected[repository.commit("Bump version to two", bump)] = "housekeeping"
    expected[repository.commit("Only a new file here", {"new.md": "# New\n"})] = "nothing_indexed"
    expected[repository.commit("An empty commit with words")] = "nothing_indexed"
    many = {f"many/{number}.md": "# M\n" for number in range(9)}
    expected[repository.commit("Nine files are new", many)] = "nothing_indexed"
    expected[repository.commit("Nine files are changed", dict.fromkeys(many, "# N\n"))] = "too_many_files"
    run = history(repository.root)
    root = git(repository.root, "rev-list", "--max-parents=0", "HEAD").strip()[:12]
    assert left_out(run) == expected | {root: "root_commit"}
    assert run.seen == len(run.answers) + len(run.left_out) and len(run.answers) == 1


def test_eight_indexed_files_are_a_question_whatever_else_changed(repository: Repository) -> None:
    files: dict[str, str | bytes] = {f"{number}.md": "# M\n" for number in range(8)}
    repository.commit("Bring them all in", {**files, "picture.png": b"\x89PNG\0"})
    repository.commit("Change them all now", {**dict.fromkeys(files, "# N\n"), "picture.png": b"\x89PNG\0\0"})
    assert len(history(repository.root, 1).answers[0].case.gold) == 8


def test_a_merge_is_left_out_and_its_side_is_asked(repository: Repository) -> None:
    git(repository.root, "checkout", "-q", "-b", "side")
    side = repository.commit("Words about the side", {"notes.md": "# Notes\n\nSide.\n"})
    git(repository.root, "checkout", "-q", "main")
    straight = repository.commit("Words about the till", {"src/till.py": "def open_till():\n    pass\n"})
    git(repository.root, "merge", "-q", "--no-ff", "-m", "Merge the side branch", "side")
    run = history(repository.root)
    assert {answer.case.id for answer in run.answers} == {side, straight}
    assert list(left_out(run).values()).count("merge") == 1


def test_the_last_usable_commits_are_taken_newest_first(repository: Repository) -> None:
    made = []
    for number in range(6):
        made.append(
            repository.commit(f"Rewrite the notes again {number}", {"notes.md": f"# Notes\n\n{number}\n"})
        )
        repository.commit("wip", {"notes.md": f"# Notes\n\n{number}!\n"})
    assert [answer.case.id for answer in history(repository.root, 4).answers] == made[:1:-1]


def test_a_sub_folder_asks_only_about_itself(repository: Repository) -> None:
    repository.commit(
        "Change notes and till", {"notes.md": "# X\n", "src/till.py": "def till():\n    pass\n"}
    )
    repository.commit("Change the notes alone", {"notes.md": "# Y\n"})
    (answer,) = history(repository.root / "src").answers
    assert {gold.path for gold in answer.case.gold} == {"till.py"}


def test_the_same_history_gives_the_same_answers_from_a_fresh_and_a_used_index(
    repository: Repository, tmp_path: Path
) -> None:
    for number in range(5):
        repository.commit(
            f"Rewrite the till function {number}", {"src/till.py": f"def till():\n    return {number}\n"}
        )
    fresh = history(repository.root)
    used = history(repository.root)
    moved = tmp_path / "moved"
    git(tmp_path, "clone", "-q", str(repository.root), str(moved))
    for other in (used, history(moved)):
        assert [answer[:3] for answer in other.answers] == [answer[:3] for answer in fresh.answers]
        assert other.left_out == fresh.left_out


def test_neither_the_work_tree_nor_git_is_touched(repository: Repository) -> None:
    repository.commit("Change the notes alone", {"notes.md": "# Y\n"})
    make_tree(repository.root, {"notes.md": "# Not committed\n", "untracked.md": "# U\n"})
    before = listing(repository.root)
    history(repository.root)
    after = listing(repository.root)
    assert {path: stamp for path, stamp in after.items() if not path.startswith("_ctx")} == before
    assert (
        "_ctx/eval.db" in after and git(repository.root, "status", "--short").split("\n")[0] == " M notes.md"
    )


def test_the_past_index_goes_where_the_index_goes(repository: Repository, tmp_path: Path) -> None:
    repository.commit("Change the notes alone", {"notes.md": "# Y\n"})
    before = listing(repository.root)
    with make_engine(repository.root, index_dir=tmp_path / "home") as engine:
        run_history(engine, 1, len)
    assert listing(repository.root) == before and (tmp_path / "home" / "eval.db").is_file()


def listing(root: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            status = os.lstat(os.path.join(folder, name))
            relative = os.path.relpath(os.path.join(folder, name), root)
            found[relative] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


def test_a_blob_is_parsed_once_however_many_parents_have_it(repository: Repository) -> None:
    many: dict[str, str | bytes] = {f"many/{number}.md": f"# Number {number}\n" for number in range(30)}
    repository.commit("Bring in many files", many)
    for number in range(4):
        repository.commit(f"Rewrite the notes again {number}", {"notes.md": f"# Notes\n\n{number}\n"})
    heard: list[tuple[int, int]] = []
    opened = make_engine(repository.root)
    with opened.for_caller(progress=lambda done, total: heard.append((done, total))) as engine:
        run_history(engine, 4, len)
        assert max(total for _, total in heard) == 32  # the first parent; later ones are not that large
        assert heard.count((0, 32)) == 1


def no_commit(root: Path) -> Path:
    root.mkdir()
    git(root, "init", "-q")
    return root


def no_repository(root: Path) -> Path:
    return make_tree(root, FIRST)


def only_root(root: Path) -> Path:
    Repository(root).commit("The first commit of all", FIRST)
    return root


def shallow(root: Path) -> Path:
    made = Repository(root.with_name("deep"))
    made.commit("The first commit of all", FIRST)
    made.commit("Change the notes alone", {"notes.md": "# Y\n"})
    git(root.parent, "clone", "-q", "--depth", "1", made.root.as_uri(), str(root))
    return root


@pytest.mark.parametrize(
    ("build", "error", "hint"),
    [
        (no_commit, RefNotFound, "commit something"),
        (no_repository, Unsupported, "dataset"),
        (only_root, InvalidRequest, "no more usable commits"),
        (shallow, InvalidRequest, "git fetch --unshallow"),
    ],
)
def test_a_history_that_cannot_be_asked_is_a_typed_error_with_a_hint(
    tmp_path: Path, build: Callable[[Path], Path], error: type[SatchelError], hint: str
) -> None:
    root = build(tmp_path / "case")
    with pytest.raises(error) as caught:
        history(root)
    assert hint in caught.value.hint and not (root / "_ctx").exists()


def test_a_shallow_clone_asks_what_it_can_and_says_so(repository: Repository, tmp_path: Path) -> None:
    for number in range(3):
        repository.commit(f"Rewrite the notes again {number}", {"notes.md": f"# Notes\n\n{number}\n"})
    git(tmp_path, "clone", "-q", "--depth", "3", repository.root.as_uri(), str(tmp_path / "shallow"))
    run = history(tmp_path / "shallow")
    assert len(run.answers) == 2 and list(left_out(run).values()) == ["object_missing"]
    assert "2 of 10 questions" in run.notes[0] and "unshallow" in run.notes[0]


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("Fix the router (#123)\n", "Fix the router"),
        ("Fix (#1)\n\nBody here.\n\nSigned-off-by: A <a@b>\nCo-authored-by: C\n", "Fix\n\nBody here."),
        ("feat(api): add a note: it helps", "feat(api): add a note: it helps"),
        ("Fix\n\n(cherry picked from commit 0a1b2c)\nCloses: #3", "Fix"),
    ],
)
def test_a_question_is_the_message_without_signatures_and_numbers(message: str, question: str) -> None:
    assert question_of(message) == question
