"""No pack shows a secret or another segment's text, in whatever format it is asked for."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path

import pytest
from builders import SHOP, age, git, git_repo, make_tree, memory_engine, run_cli, session_of

from satchel.commands.build_context_pack import BuildContextPackRequest
from satchel.commands.build_context_pack import run as build_context_pack
from satchel.commands.context_pack import ContextPackRequest
from satchel.commands.context_pack import run as context_pack
from satchel.commands.pack import PackCommandRequest
from satchel.commands.pack import run as pack
from satchel.engine import Engine
from satchel.visible_json import compact

FORMATS = ("context", "markdown", "xml", "terminal", "json", "sections")
_CHOOSE = random.Random(11)


def letters(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(_CHOOSE.choice(alphabet) for _ in range(count))


PLANTED = {  # put together here, so that this file itself holds none
    "aws": "AKIA" + letters(16, string.ascii_uppercase + "234567"),
    "github": "ghp_" + letters(36),
    "gitlab": "glpat-" + letters(20),
    "slack": "xoxb-" + letters(12, string.digits) + "-" + letters(24),
    "stripe": "sk_live_" + letters(24),
    "google": "AIza" + letters(35),
    "anthropic": "sk-ant-api03-" + letters(93),
    "openai": "sk-proj-" + letters(60),
    "npm": "npm_" + letters(36),
    "sendgrid": f"SG.{letters(22)}.{letters(43)}",
    "jwt": f"eyJ{letters(20)}.eyJ{letters(30)}.{letters(43)}",
    "huggingface": "hf_" + letters(34),
}
QUESTIONS = (
    "basket key",
    "BASKET_KEY",
    "basket_client",
    "src/keys.py",
    "how is the basket client made",
    '"basket_key"',
)


def planted() -> dict[str, str | bytes]:
    lines = [f"basket_key_{name} = '{value}'\n" for name, value in PLANTED.items()]
    calls = [
        f"def basket_client_{name}():\n    return client('{value}')\n\n\n" for name, value in PLANTED.items()
    ]
    return {
        **SHOP,
        "src/keys.py": "# basket keys\n" + "".join(lines),
        "src/clients.py": "".join(calls),
        f"src/basket_{PLANTED['github']}.py": "basket_key = 1\n",
        f"{PLANTED['gitlab']}/basket.py": "basket_key = 1\n",
        "docs/keys.md": "# basket key\n\n" + "".join(f"- `{value}`\n" for value in PLANTED.values()),
        "deploy.yaml": "".join(f"basket_key_{name}: {value}\n" for name, value in PLANTED.items()),
        ".env": "".join(f"BASKET_KEY={value}\n" for value in PLANTED.values()),
        "id_rsa": "basket key\n" + letters(200),
    }


def leaks(text: str) -> list[str]:
    return [name for name, value in PLANTED.items() if value in text or value[8:28] in text]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(age(make_tree(tmp_path_factory.mktemp("secrets"), planted())))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("query", QUESTIONS)
def test_no_planted_key_is_in_any_format(engine: Engine, format: str, query: str) -> None:
    answer = pack(session_of(engine), PackCommandRequest(query=query, format=format, budget_tokens=20_000))
    assert answer.items and leaks(answer.document) == [] and "id_rsa" not in answer.document
    assert "redacted" in answer.document


@pytest.mark.parametrize("query", QUESTIONS)
def test_no_planted_key_is_in_hints_next_queries_imports_or_reasons(engine: Engine, query: str) -> None:
    flat = context_pack(session_of(engine), ContextPackRequest(query=query, max_chars=100_000, trace=True))
    sectioned = build_context_pack(
        session_of(engine), BuildContextPackRequest(query=query, budget_tokens=20_000, trace=True)
    )
    assert leaks(compact(flat)) == [] and leaks(compact(sectioned)) == []


def test_redactions_are_counted_where_they_are(engine: Engine) -> None:
    answer = build_context_pack(
        session_of(engine), BuildContextPackRequest(query="src/keys.py", budget_tokens=20_000)
    )
    everything = [item for section in json.loads(compact(answer.sections)).values() for item in section]
    shown = [item for item in everything if item["path"] == "src/keys.py"]
    assert sum(item.get("redactions", 0) for item in shown) == len(PLANTED)
    assert all(item.get("redactions", 0) == item["content"].count("«redacted:") for item in everything)


def test_what_was_removed_from_the_tree_is_not_shown_from_its_past(tmp_path: Path) -> None:
    root = git_repo(tmp_path, planted())
    git(root, "rm", "-q", "-r", "--cached", "src/keys.py")
    (root / "src/keys.py").unlink()
    for arguments in (("--ref", "HEAD"), ("--diff", "HEAD"), ()):
        done = run_cli("pack", "basket key", "--segment", root, "--budget-tokens", "20000", *arguments)
        assert done.returncode == 0 and leaks(done.stdout.decode()) == []


def test_a_pack_never_shows_another_segment(tmp_path: Path) -> None:
    one = make_tree(tmp_path / "one", SHOP)
    two = make_tree(
        tmp_path / "two", {"unicorn.md": "# Unicorn basket\n\nunicorn\n", "src/basket.py": "unicorn = 1\n"}
    )
    (one / "linked").symlink_to(two)
    (one / "linked.md").symlink_to(two / "unicorn.md")
    home = tmp_path / "home"
    for root in (two, one):
        assert run_cli("index", "--segment", root, "--index-dir", home / root.name).returncode == 0
    for format in FORMATS:
        asked = ("pack", "unicorn basket", "--format", format, "--segment", one, "--index-dir", home / "one")
        found = run_cli(*asked).stdout.decode()
        assert "src/basket.py" in found and "unicorn = 1" not in found and "# Unicorn" not in found


def test_two_segments_with_one_home_for_their_indexes_stay_apart(tmp_path: Path) -> None:
    one = make_tree(tmp_path / "a" / "shop", SHOP)
    two = make_tree(tmp_path / "b" / "shop", {"src/basket.py": "unicorn_basket = 1\n"})
    home = {"SATCHEL_HOME": str(tmp_path / "home")}
    texts = [
        run_cli("pack", "basket", "--format", "sections", "--segment", root, environment=home).stdout.decode()
        for root in (one, two, one)
    ]
    assert "unicorn_basket" in texts[1] and "unicorn" not in texts[0] and texts[0] == texts[2]
    assert not (one / "_ctx").exists() and not (two / "_ctx").exists()
