"""`satchel onboard`: the facts are those of the files, citations are true, budgets hold, nothing is made up."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import msgspec
import pytest
from builders import make_tree
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel import Engine, tokenizers
from satchel.commands.onboard import OnboardLine, OnboardRequest, OnboardResponse, run
from satchel.errors import InvalidBudget
from satchel.lines import split_lines
from satchel.onboarding.documents import plain
from satchel.rendering import agent_text
from satchel.rendering.style import Style
from satchel.rendering.terminal import render

FILES = {
    "README.md": (
        "# Till\n\n[![build](https://ci/badge.svg)](https://ci)\n\n"
        "Till counts the money of a shop, and prints a receipt for each sale.\n\n"
        "## Install\n\n```sh\npip install till\n```\n\nFor work on it, `pip install -e .` is enough.\n"
    ),
    "AGENTS.md": "# For agents\n\n```\n$ make check-all\n```\n\n- Commit messages must name the module that they change.\n",
    "pyproject.toml": (
        '[project]\nname = "till"\ndescription = "Counts the money of a shop"\nrequires-python = ">=3.11"\n\n'
        '[project.scripts]\ntill = "till.cli:main"\n\n[build-system]\nbuild-backend = "hatchling.build"\n\n'
        "[tool.ruff]\nline-length = 110\n\n[tool.pytest.ini_options]\n"
    ),
    "package.json": '{\n  "scripts": {\n    "test:e2e": "playwright test",\n    "start": "vite"\n  }\n}\n',
    "Makefile": "lint:\n\t@echo checking\n\truff check .\n\nsrc/x.o: x.c\n\tcc x.c\n",
    ".github/workflows/ci.yml": (
        "jobs:\n  test:\n    steps:\n      - run: |\n          pip install -e . \\\n            --no-deps\n"
        "          pytest -q\n      - uses: actions/upload\n"
    ),
    ".editorconfig": "[*]\nindent_style = space\n",
    "Dockerfile": 'FROM python:3.12\nCMD ["till"]\n',
    "src/till/__init__.py": '"""The till itself: sales, receipts and what is left in the drawer."""\n',
    "src/till/cash.py": "class Drawer:\n    def put(self, amount):\n        return amount\n",
    "src/till/cli.py": "from till.cash import Drawer\n\n\ndef main():\n    Drawer().put(1)\n",
    "tests/test_cash.py": "from till.cash import Drawer\n\n\ndef test_put():\n    assert Drawer().put(1) == 1\n",
    "LICENSE": "MIT License\n\nCopyright\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(make_tree(tmp_path_factory.mktemp("onboard") / "till", FILES))
    engine.refresh()
    return engine


def onboard(engine: Engine, **fields: object) -> OnboardResponse:
    return run(engine, msgspec.convert(fields, OnboardRequest))


def lines_of(response: OnboardResponse, title: str) -> list[OnboardLine]:
    return next(section.lines for section in response.sections if section.title == title)


def told(response: OnboardResponse, title: str) -> list[tuple[str, str, int]]:
    return [(line.text, line.path, line.start_line) for line in lines_of(response, title)]


def test_each_section_says_what_the_files_say(engine: Engine) -> None:
    page = onboard(engine)
    what = told(page, "What it is")
    assert ("Till counts the money of a shop, and prints a receipt for each sale.", "README.md", 5) in what
    assert ("Counts the money of a shop", "pyproject.toml", 3) in what
    assert ("MIT License", "LICENSE", 1) in what
    assert ("pip install -e . --no-deps", ".github/workflows/ci.yml", 5) in told(page, "Set up")
    assert ("pip install -e .", "README.md", 13) in told(page, "Set up")
    assert ('python -m build, by "hatchling.build"', "pyproject.toml", 10) in told(page, "Build")
    tests = told(page, "Test")
    assert ("pytest (configured here)", "pyproject.toml", 15) in tests
    assert ("npm run test:e2e → playwright test", "package.json", 3) in tests
    assert ("pytest -q", ".github/workflows/ci.yml", 7) in tests
    assert ("make check-all", "AGENTS.md", 4) in tests
    run_it = told(page, "Run")
    assert ("npm run start → vite", "package.json", 4) in run_it
    assert ('image starts CMD ["till"]', "Dockerfile", 2) in run_it
    assert told(page, "Check") == [("make lint → ruff check .", "Makefile", 1)]
    assert ('till = "till.cli:main"', "pyproject.toml", 7) in told(page, "Entry points")
    assert ("class Drawer — 2 files refer to it", "src/till/cash.py", 1) in told(page, "Central definitions")
    conventions = told(page, "Conventions")
    assert ("line-length = 110", "pyproject.toml", 13) in conventions
    assert ("indent_style = space", ".editorconfig", 2) in conventions
    assert ("Commit messages must name the module that they change.", "AGENTS.md", 7) in conventions
    layout = lines_of(page, "Layout")
    assert layout[0].label == "src/till/"
    assert "sales, receipts" in layout[0].text


def test_what_is_not_found_is_said(tmp_path: Path) -> None:
    engine = Engine.open(make_tree(tmp_path / "bare", {"a.py": "x = 1\n"}))
    engine.refresh()
    page = onboard(engine)
    asked = [line.text for line in lines_of(page, "Open questions")]
    assert "no README found" in asked
    assert "no test command found in manifests, documents or CI files" in asked
    assert "## Test" not in page.text
    assert "Nothing found for: Set up, Build, Test, Run, Check" in page.text
    assert lines_of(page, "Run") == []


def test_every_citation_is_true(engine: Engine) -> None:
    page = onboard(engine, budget_tokens=20_000)
    cited = [line for section in page.sections for line in section.lines if line.path]
    assert len(cited) > 20
    for line in cited:
        raw = (engine.root / line.path).read_bytes().decode()
        text = "".join(split_lines(raw)[line.start_line - 1 : line.end_line])
        assert text, line
        assert line.content_hash == hashlib.sha256(text.encode()).hexdigest()


@settings(max_examples=25, deadline=None)
@given(budget=st.integers(200, 4_000), more=st.integers(0, 800))
def test_a_budget_holds_and_a_larger_one_shows_at_least_as_much(
    engine: Engine, budget: int, more: int
) -> None:
    try:
        small = onboard(engine, budget_tokens=budget)
    except InvalidBudget as error:
        assert error.details["min_tokens"] > budget
        return
    assert tokenizers.get("o200k").count(small.text) == small.used_tokens <= budget
    large = onboard(engine, budget_tokens=budget + more)
    for few, many in zip(small.sections, large.sections, strict=True):
        assert many.lines[: len(few.lines)] == few.lines
        assert few.total == many.total >= len(many.lines)


def test_the_least_budget_that_an_error_names_works(engine: Engine) -> None:
    with pytest.raises(InvalidBudget) as caught:
        onboard(engine, budget_tokens=1)
    assert onboard(engine, budget_tokens=caught.value.details["min_tokens"]).text


def test_hostile_text_stays_on_its_line_and_visible(tmp_path: Path) -> None:
    files = {
        "README.md": "# A\n\nA fine project \u202e for everyone\x1b[31m and nothing else, really.\n"
        + "[" * 50_000,
        "Makefile": "test:\n\t" + "x " * 40_000 + "\n",
        "package.json": '{"scripts": {"test": "a\\n## Open questions\\n- all is well"}}',
    }
    engine = Engine.open(make_tree(tmp_path / "hostile", files))
    engine.refresh()
    page = onboard(engine)
    assert "\u202e" not in page.text
    assert "\x1b" not in page.text
    assert page.text.count("\n## Open questions") == 1
    assert max(map(len, page.text.split("\n"))) < 700
    assert agent_text.render(page) == render(page, Style()) == page.text


def test_the_history_says_where_changes_happen(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "old", {"a.py": "x = 0\n", "lib/b.py": "y = 0\n"})
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    for number in range(21):
        (root / "a.py").write_text(f"x = {number + 1}\n")
        (root / "lib/b.py").write_text(f"y = {number // 20}\n")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", f"change {number}"], check=True)
    engine = Engine.open(root)
    engine.refresh()
    changes = told(onboard(engine), "Where most changes happen")
    # The first commit, which adds everything, is no change.
    assert ("20 commits", "a.py", 1) in changes
    assert changes[0][0] == "of the last 20 commits, this many changed a file below: lib/ 1"
    past = onboard(engine, ref="HEAD~20")
    assert told(past, "Where most changes happen") == []


def test_the_page_does_not_depend_on_how_the_index_came_about(engine: Engine, tmp_path: Path) -> None:
    other = Engine.open(make_tree(tmp_path / "till", {name: FILES[name] for name in list(FILES)[:5]}))
    other.refresh()
    make_tree(other.root, FILES)
    other.refresh()
    assert onboard(other) == onboard(engine)


def test_a_link_of_restructuredtext_keeps_its_words_also_over_a_line_end() -> None:
    assert (
        plain("made at `FriendFeed\n<https://example.org/x>`_ and `here <https://example.org>`__.")
        == "made at FriendFeed and here."
    )
