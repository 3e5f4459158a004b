"""Fixes replayed in repositories whose fixes are known: every figure is computed here once more, another way."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Repository, git, make_engine, make_tree
from test_ripgrep import stand_in

from satchel import tokenizers
from satchel.engine import Engine
from satchel.errors import InvalidRequest, SatchelError, Unsupported
from satchel.evaluation import task_run
from satchel.evaluation.policies import LADDER
from satchel.evaluation.run import Run, ScoredAnswer
from satchel.evaluation.task_run import costs, run_tasks
from satchel.packing.pack import plain_text

COUNT = tokenizers.get("o200k").count
FILLER = "".join(
    f"def helper_{number}(value):\n"
    + "".join(f"    value = value + {step}  # step {step} of helper {number}\n" for step in range(40))
    + "    return value\n\n\n"
    for number in range(12)
)
TILL = "def open_till(drawer):\n    drawer.lock = False\n    return drawer\n\n\ndef close_till(drawer):\n    drawer.lock = True\n    return drawer\n"
LAMP = "def light_lamp(lamp):\n    lamp.on = True\n    return lamp\n"
BELL = "class Bell:\n    def ring(self):\n        return 'ding'\n\n    def mute(self):\n        self.loud = False\n        return self\n"
# message, file, old text, new text, lines to see, lines of each changed definition
FIXES = [
    ("Fix close_till, which left the drawer open", "till.py", "lock = True", "lock = 2", {7}, [{7}]),
    ("The lamp is not lit after light_lamp", "lamp.py", "lamp.on = True", "lamp.on = lamp", {2}, [{2}]),
    ("Fix a bell that rings although it is muted", "bell.py", "'ding'", "self.loud and 'ding'", {3}, [{3}]),
    (
        "Fix mute of the bell, which forgets its owner",
        "bell.py",
        "loud = False\n",
        "loud = False\n        self.owner = None\n",
        {6, 7},
        [{6, 7}],
    ),
    (
        "Fix wrong sums in helper_7",
        "filler.py",
        "+ 13  # step 13 of helper 7",
        "+ 14  # fixed",
        {323},
        [{323}],
    ),
    ("Prevent an overflow in zzz of the drawer", "far.py", "far = 1", "far = 2", {2}, [{2}]),
]


def repository_of_fixes(root: Path) -> tuple[Repository, dict[str, int]]:
    """Return a repository and the number of each fix in it by its commit."""
    made = Repository(root)
    far = "def hidden(there):\n    there.far = 1\n    return there\n"
    files = {"till.py": TILL, "lamp.py": LAMP, "bell.py": BELL, "filler.py": FILLER, "far.py": far}
    made.commit("The first commit of all", files)
    numbers = {}
    for number, (message, path, old, new, _, _) in enumerate(FIXES):
        text = (made.root / path).read_text()
        assert text.count(old) == 1
        numbers[made.commit(message, {path: text.replace(old, new), "notes.md": f"{number}\n"})] = number
        made.commit(f"Write down what came of number {number}", {"log.md": f"# {message}\n\n{path}\n"})
    return made, numbers


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, dict[str, int], Run]:
    folder = tmp_path_factory.mktemp("tasks")
    repository, numbers = repository_of_fixes(folder / "work")
    with pytest.MonkeyPatch.context() as patch:
        program = stand_in(folder)
        patch.setattr(task_run, "find_ripgrep", lambda: program)
        return repository, numbers, replay(repository.root)


def replay(root: Path, wanted: int = 6) -> Run:
    with make_engine(root) as engine:
        return run_tasks(engine, wanted, tokenizers.get("o200k"), "o200k")


def comparable(run: Run) -> list[tuple[object, ...]]:
    return [(answer.case, answer.results, answer.scores, answer.tokens) for answer in run.answers]


def parent_without_fix(repository: Repository, commit: str, place: Path) -> Path:
    """Return a clone that ends at the parent of a commit: neither the fix nor anything later is in it."""
    git(repository.root, "branch", "-f", "before", f"{commit}^")
    git(place.parent, "clone", "-q", "--single-branch", "-b", "before", repository.root.as_uri(), str(place))
    assert commit not in git(place, "log", "--all", "--format=%h", "--abbrev=12")
    return place


def shown(engine: Engine, query: str, budget: int) -> tuple[set[tuple[str, int]], int, str]:
    """Return the lines of a pack, its tokens and its text."""
    pack = engine.pack(query, budget_tokens=budget)
    lines = {(item.path, line) for item in pack.items for line in range(item.start_line, item.end_line + 1)}
    return lines, COUNT(plain_text(pack)), plain_text(pack)


def test_all_fixes_are_replayed_newest_first_with_their_lines(
    replayed: tuple[Repository, dict[str, int], Run],
) -> None:
    _, numbers, run = replayed
    assert [numbers[answer.case.id] for answer in run.answers] == [5, 4, 3, 2, 1, 0]
    for answer in run.answers:
        message, path, _, _, lines, _ = FIXES[numbers[answer.case.id]]
        assert answer.case.query == message
        found = {
            (gold.path, line)
            for gold in answer.case.gold
            for line in range(gold.start_line, gold.end_line + 1)
        }
        assert found == {(path, line) for line in lines}
    reasons = {item.reason.value for item in run.left_out}
    assert reasons == {"no_fix"} and run.seen == 12  # the root commit is not looked at any more


@pytest.mark.parametrize("number", range(len(FIXES)))
def test_shares_and_tokens_of_packs_are_those_of_a_clone_without_the_fix(
    replayed: tuple[Repository, dict[str, int], Run], number: int, tmp_path: Path
) -> None:
    repository, numbers, run = replayed
    (answer,) = [item for item in run.answers if numbers[item.case.id] == number]
    message, path, _, _, lines, definitions = FIXES[number]
    wanted = {(path, line) for line in lines}
    clone = parent_without_fix(repository, answer.case.id, tmp_path / "before")
    with make_engine(clone) as tree, tree.at("HEAD") as engine:
        for budget in (2000, 4000, 8000, 16000):
            seen, _, _ = shown(engine, message, budget)
            whole = all({(path, line) for line in inside} <= seen for inside in definitions)
            assert answer.scores[f"definitions@{budget}t"] == float(whole)
        enough = [found for budget in LADDER if wanted <= (found := shown(engine, message, budget))[0]]
        assert answer.tokens is not None
        assert answer.tokens["pack"] == (enough[0][1] if enough else None)
        assert answer.scores["reached@pack"] == float(bool(enough))
        seen, paid, _ = shown(engine, message, 4000)
        if wanted <= seen:
            assert answer.tokens["next"] == paid


def test_a_search_is_paid_with_its_snippets_and_then_definition_by_definition(
    replayed: tuple[Repository, dict[str, int], Run], tmp_path: Path
) -> None:
    repository, numbers, run = replayed
    (answer,) = [item for item in run.answers if numbers[item.case.id] == 4]
    clone = parent_without_fix(repository, answer.case.id, tmp_path / "before")
    with make_engine(clone) as tree, tree.at("HEAD") as engine:
        hits, _ = engine.search(answer.case.query, 10)
        assert (hits[0].path, hits[0].name) == ("filler.py", "helper_7")
        snippets = [
            f"{hit.path}:{hit.start_line}:{hit.end_line} {hit.name}\n" + hit.snippet.rstrip("\n") + "\n"
            for hit in hits
        ]
    helper = FILLER.split("\n\n\n")[7] + "\n"
    first = FILLER[: FILLER.index(helper)].count("\n") + 1
    got = f"filler.py:{first}:{first + 41}\n{helper}"
    assert "step 13 of helper 7" not in "".join(snippets) and "step 13 of helper 7" in got
    assert answer.tokens is not None
    assert answer.tokens["search"] == COUNT("".join(snippets)) + COUNT(got)


def test_ripgrep_is_paid_window_by_window_and_file_by_file(
    replayed: tuple[Repository, dict[str, int], Run],
) -> None:
    _, numbers, run = replayed
    by_number: dict[int, ScoredAnswer] = {numbers[answer.case.id]: answer for answer in run.answers}
    till = by_number[0].tokens
    assert till is not None  # close_till is on line 6 of a file of 8 lines
    assert till["ripgrep"] == till["files"] == COUNT("till.py:1:8\n" + TILL)
    helper = by_number[4].tokens
    assert helper is not None  # helper_7 is defined on line 309, and its 13th step is far below
    assert helper["files"] == COUNT(f"filler.py:1:{FILLER.count(chr(10))}\n{FILLER}")
    far = by_number[5].tokens
    assert far is not None and (far["ripgrep"], far["files"]) == (None, None)
    assert by_number[5].scores["reached@ripgrep"] == 0


def test_medians_are_over_what_was_reached_and_what_was_not_counts_as_more(
    replayed: tuple[Repository, dict[str, int], Run],
) -> None:
    run = replayed[2]
    rows = {
        0: {"pack": 10, "ripgrep": 20},
        1: {"pack": None, "ripgrep": 30},
        2: {"pack": 50, "ripgrep": None},
    }
    answers = [run.answers[at]._replace(tokens=tokens) for at, tokens in rows.items()]
    pack, ripgrep = costs(answers)
    assert (pack.policy, pack.fixes, pack.reached) == ("pack", 3, 2)
    assert (pack.median_of_reached, pack.median_of_all) == (30, 50)
    assert (pack.cheaper_than_ripgrep, pack.dearer_than_ripgrep) == (2, 1)
    assert (ripgrep.median_of_reached, ripgrep.median_of_all, ripgrep.cheaper_than_ripgrep) == (25, 30, None)
    assert costs([answers[1]])[0].median_of_all is None


def test_a_second_run_and_another_clone_give_the_same(
    replayed: tuple[Repository, dict[str, int], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, _, run = replayed
    program = stand_in(tmp_path)
    monkeypatch.setattr(task_run, "find_ripgrep", lambda: program)
    assert comparable(replay(repository.root)) == comparable(run)
    moved = tmp_path / "moved"
    git(tmp_path, "clone", "-q", str(repository.root), str(moved))
    make_tree(moved, {"till.py": "not committed\n"})
    again = replay(moved)
    assert comparable(again) == comparable(run) and again.left_out == run.left_out


def test_later_commits_change_nothing(
    replayed: tuple[Repository, dict[str, int], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that names each fixed file is written after each fix: seen too early, it would lead to it."""
    repository, numbers, run = replayed
    program = stand_in(tmp_path)
    monkeypatch.setattr(task_run, "find_ripgrep", lambda: program)
    monkeypatch.setattr(task_run, "FEWEST", 1)
    (third,) = [commit for commit, number in numbers.items() if number == 2]
    git(tmp_path, "clone", "-q", str(repository.root), str(tmp_path / "short"))
    git(tmp_path / "short", "reset", "-q", "--hard", third)
    assert comparable(replay(tmp_path / "short", 3)) == comparable(run)[3:]


def test_without_ripgrep_its_figures_are_left_out_and_that_is_said(
    replayed: tuple[Repository, dict[str, int], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_run, "find_ripgrep", lambda: "")
    run = replay(replayed[0].root)
    assert run.notes == [task_run.WITHOUT_RIPGREP]
    assert [cost.policy for cost in costs(run.answers)] == ["pack", "next", "search"]
    assert {cost.cheaper_than_ripgrep for cost in costs(run.answers)} == {None}
    assert "reached@ripgrep" not in run.answers[0].scores


def test_too_few_fixes_are_an_error_that_says_what_was_left_out(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "work")
    repository.commit("The first commit of all", {"lamp.py": LAMP})
    repository.commit("Fix the lamp, which is never lit", {"lamp.py": LAMP.replace("True", "1")})
    repository.commit("Paint the lamp green today", {"lamp.py": LAMP})
    with pytest.raises(InvalidRequest) as caught:
        replay(repository.root)
    assert (
        "1 of 3 commits looked at can be replayed as fixes: no_fix 1, root_commit 1" in caught.value.message
    )
    assert "no more usable commits" in caught.value.hint and caught.value.details["left_out"]


def test_fewer_fixes_than_asked_for_are_told(replayed: tuple[Repository, dict[str, int], Run]) -> None:
    notes = replay(replayed[0].root, 50).notes
    assert any(
        "6 of 13 commits looked at can be replayed as fixes, 50 were asked for" in note for note in notes
    )


def test_a_folder_without_git_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(Unsupported) as caught:
        replay(make_tree(tmp_path / "shop", {"a.py": "A = 1\n"}))
    assert isinstance(caught.value, SatchelError) and "no history" in caught.value.message
