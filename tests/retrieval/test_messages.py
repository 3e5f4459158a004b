"""A pasted message finds the line that it comes from, in the first hit and in the pack."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree

from satchel import Engine
from satchel.retrieval import messages
from satchel.retrieval.messages import message_lines
from satchel.retrieval.query import parse_query

FILLER = "".join(
    f"def step_{number}(recipe):\n    return recipe.name + {number}\n\n\n" for number in range(40)
)
FILES = {
    "src/error.rs": (
        "impl Error {\n  fn fmt(&self) {\n    match self {\n"
        '      Unknown { name } => write!(f, "Justfile does not contain recipe `{}`.", name)?,\n'
        '      Cycle { path } => write!(f, "Recipe `{}` depends on itself: {}", path, all)?,\n    }\n  }\n}\n'
    ),
    "src/recipe.py": f"{FILLER}def load(path):\n    raise OSError('cannot open %s for reading: %s' % (path, why))\n",
    "src/net.go": 'func dial() error {\n\treturn fmt.Errorf("dial %q: connection refused by peer", addr)\n}\n',
    "web/app.js": "function send(id) {\n  throw new Error(`order ${id} was not accepted by the shop`)\n}\n",
    "tests/test_error.py": "def test_it():\n    assert run() == 'Justfile does not contain recipe `x`.'\n",
    "docs/recipes.md": "# Recipes\n\nA justfile contains recipes. A recipe that depends on itself is an error.\n",
    "src/graph.py": "def drop(node):\n    raise KeyError('no such node in the recipe graph of this file')\n",
    "src/lock.py": "def lock():\n    raise OSError('file is locked: %s' % name)\n\n\ndef busy():\n    return 'Still busy!'\n",
    "docs/names.txt": 'A name is a "quoted term" here.\n\ndocs/releases/1.2.3.txt\n',
}
MESSAGES = {
    "justfile does not contain recipe": ("src/error.rs", 4),
    "Justfile does not contain recipe `build`.": ("src/error.rs", 4),
    "error: Recipe `b` depends on itself: a -> b -> a": ("src/error.rs", 5),
    "OSError: cannot open /etc/shop.conf for reading: permission denied": ("src/recipe.py", 162),
    'dial "10.0.0.1:80": connection refused by peer': ("src/net.go", 2),
    "order 66 was not accepted by the shop": ("web/app.js", 2),
    "It stops.\n\nAfter an upgrade I only see\n\n```\norder 7 was not accepted by the shop\n```\n": (
        "web/app.js",
        2,
    ),
    "file is locked": ("src/lock.py", 2),
    "still busy": ("src/lock.py", 6),
    '"recipe graph"': ("src/graph.py", 2),
    'Why does it say "connection refused by peer" when the shop is up?': ("src/net.go", 2),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(make_tree(tmp_path_factory.mktemp("messages") / "tree", FILES))
    engine.refresh()
    return engine


@pytest.mark.parametrize("common", [0, 2, 5])
@pytest.mark.parametrize("most", [1, 3, 8])
def test_common_words_may_be_looked_up_last(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, most: int, common: int
) -> None:
    monkeypatch.setattr(messages, "_MOST_UNITS", most)
    for message in MESSAGES:
        expected = messages._best_units(engine.corpus(), message).tolist()
        with monkeypatch.context() as patch:
            patch.setattr(messages, "_COMMON", common)
            assert messages._best_units(engine.corpus(), message).tolist() == expected


@pytest.mark.parametrize("message", MESSAGES)
def test_the_first_hit_has_the_line(engine: Engine, message: str) -> None:
    path, line = MESSAGES[message]
    hit = engine.search(message, 3)[0][0]
    assert hit.path == path
    assert hit.start_line <= line <= hit.end_line


@pytest.mark.parametrize("message", MESSAGES)
def test_the_pack_has_the_line(engine: Engine, message: str) -> None:
    path, line = MESSAGES[message]
    items = engine.pack(message, budget_tokens=1_000).items
    assert any(item.path == path and item.start_line <= line <= item.end_line for item in items)


@pytest.mark.parametrize(
    "question",
    [
        "how are recipes loaded",
        "where is the recipe name read",
        "load",
        "src/recipe.py",
        "connection to the shop",
        "open a file for reading",
        "recipe graph",
        "quoted term",
        "quoted term of name",
        "typo in docs/releases/1.2.3.txt",
    ],
)
def test_an_ordinary_question_holds_no_message(engine: Engine, question: str) -> None:
    assert message_lines(engine.corpus(), parse_query(question)) == ()


def test_code_goes_before_tests_that_repeat_it(engine: Engine) -> None:
    found = message_lines(engine.corpus(), parse_query("Justfile does not contain recipe `x`."))
    assert engine.corpus().files[found[0].at].path == "src/error.rs"


def test_a_long_text_takes_no_time(tmp_path: Path, engine: Engine) -> None:
    text = "\n".join(f"> step {number} 'a \\' {'{' * 50} %" for number in range(400))
    assert len(message_lines(engine.corpus(), parse_query(text))) < 40
