"""A flag, a key of the settings or a route finds the lines of code whose literals say it."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Files, make_tree, memory_engine

from satchel import Engine

WORDS = "".join(f"def report_{number}(width):\n    return width + {number}\n\n\n" for number in range(30))
FILES: Files = {
    "src/report.py": f"{WORDS}class Report:\n    width = 80\n\n\nclass Resume:\n    time = 1\n",
    "src/width.py": f"{WORDS}def report_width_of(report):\n    return report.width\n",
    "src/options.py": (
        f"{WORDS}def options(parser):\n"
        "    parser.add('report-width', 80)\n"
        "    parser.add('resume', False)\n"
        "    parser.add('--safe-mode MODE')\n"
    ),
    "src/keys.py": "KEYS = [\n    'journal.time',\n    'journal.place',\n]\n",
    "src/start.py": f"{WORDS}def start(config):\n    if config.get('journal.time'):\n        note()\n",
    "src/routes.go": (
        'package main\n\nfunc routes() {\n\thandle("/adapt", adaptAll)\n'
        '\thandle("/shops/{id}/report", reportOf)\n\thandle("/shops/{id}", shopOf)\n}\n'
    ),
    "src/Drawer.java": 'class Drawer {\n  @Value("${shop.drawer.limit:5}")\n  int most;\n}\n',
    "src/DrawerLimit.java": "class DrawerLimit {\n  Drawer drawer;\n\n  Shop shop;\n\n  int limit;\n}\n",
    "src/adapt.go": "package main\n\nfunc adapt() {}\n\nfunc adaptAll() { adapt() }\n",
    "tests/test_options.py": "def test_it():\n    assert options() == 'report-width'\n",
    "docs/options.md": "# Options\n\nThe report width is set by `--report-width`, `--resume` resumes.\n",
    "src/crate.rs": (
        'fn crate_of(a: &Args) { a.value("crate-name") }\n\nmod tests {\n'
        + "".join(f'    fn test_{number}() {{ run("--crate-name") }}\n\n' for number in range(9))
        + "}\n"
    ),
    **{
        f"src/mode{number}.py": f"def mode_{number}(m):\n    return m == 'read-only'\n" for number in range(9)
    },
}
NAMES = {
    "--report-width": ("src/options.py", "'report-width', 80"),
    "report-width": ("src/options.py", "'report-width', 80"),
    "what does --report-width do": ("src/options.py", "'report-width', 80"),
    "--resume": ("src/options.py", "'resume'"),
    "--safe-mode": ("src/options.py", "'--safe-mode MODE'"),
    "--crate-name": ("src/crate.rs", '"crate-name"'),
    "journal.time": ("src/start.py", "config.get('journal.time')"),
    "/adapt": ("src/routes.go", '"/adapt"'),
    "/api/shops/{id}/report": ("src/routes.go", '"/shops/{id}/report"'),
    "shop.drawer.limit": ("src/Drawer.java", "${shop.drawer.limit:5}"),
    "/shops/{id}": ("src/routes.go", '"/shops/{id}"'),
    "/shops/{id}/report": ("src/routes.go", '"/shops/{id}/report"'),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("names") / "tree", FILES))


@pytest.mark.parametrize("name", NAMES)
def test_the_first_hit_has_the_line(engine: Engine, name: str) -> None:
    path, text = NAMES[name]
    hit = engine.search(name, 3)[0][0]
    assert hit.path == path and text in hit.text


@pytest.mark.parametrize("name", NAMES)
def test_a_small_pack_has_the_line(engine: Engine, name: str) -> None:
    path, text = NAMES[name]
    items = engine.pack(name, budget_tokens=600).items
    assert any(item.path == path and text in item.content for item in items)


def message_score(engine: Engine, query: str) -> float:
    """What the first hit has because a line of it holds a message or name."""
    reasons = engine.search(query, 1, explain=True)[0][0].reasons
    return sum(reason.score for reason in reasons if reason.signal == "message")


def test_words_of_a_sentence_are_no_name(engine: Engine) -> None:
    assert message_score(engine, "--report-width") > 0
    assert message_score(engine, "how is the report-width computed") == 0


def test_a_name_on_many_lines_of_code_points_at_none(engine: Engine) -> None:
    assert message_score(engine, "read-only") == 0


def test_a_path_and_a_definition_are_no_such_name(tmp_path: Path) -> None:
    tree: Files = {
        "src/till.py": "class Till:\n    def drawer(self):\n        return 1\n",
        "src/log.py": "def log(call):\n    return call('Till.drawer') or call('src/till.py')\n",
    }
    engine = memory_engine(make_tree(tmp_path, tree))
    for query in ("Till.drawer", "src/till.py"):
        assert engine.search(query, 1)[0][0].path == "src/till.py"
