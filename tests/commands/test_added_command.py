"""A command is one file: with that file alone it is on every surface."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from builders import SHOP, make_tree

GREET = '''"""`greet`: a command that only this test has."""

from typing import Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Flag, Group, Positional


class GreetRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description="whom to greet"), Positional()]
    times: Annotated[int, Meta(description="how often"), Flag("-t")] = 1


class GreetResponse(msgspec.Struct, frozen=True):
    greeting: str
    files: int


def run(engine, request):
    """Greet somebody, and say how many files there are.

    This is only a test.
    """
    greeting = " ".join(["hello", request.name] * request.times)
    return GreetResponse(greeting, len(engine.snapshot().files()))


COMMAND = Command("greet", GreetRequest, GreetResponse, run, group=Group.LOOK, tool="greet")
'''

# Runs in a process of its own, so that no other test meets the command.
WITH_GREET = """
import json, sys
import satchel.commands
satchel.commands.__path__.append(sys.argv[1])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "added").mkdir()
    (tmp_path / "added" / "greet.py").write_text(GREET)
    make_tree(tmp_path / "shop", SHOP)
    return tmp_path


def run(folder: Path, code: str, *words: str) -> str:
    command = [sys.executable, "-c", WITH_GREET + code, str(folder / "added"), *words]
    result = subprocess.run(command, cwd=folder / "shop", capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_command_line_has_it(folder: Path) -> None:
    call = "from satchel.serving.cli import main; sys.exit(main(sys.argv[2:]))"
    overview = run(folder, call, "--help")
    looked_up = overview.partition("Look something up:\n")[2].partition("\n\n")[0]
    assert "  greet               Greet somebody, and say how many files there are.\n" in looked_up
    said = json.loads(run(folder, call, "greet", "you", "-t", "2", "--json"))
    assert said == {"greeting": "hello you hello you", "files": len(SHOP)}
    assert "files" in run(folder, call, "greet", "you")


def test_programs_and_agents_have_it(folder: Path) -> None:
    call = (
        "from satchel import answer\n"
        "from satchel.serving import generated_files\n"
        "from satchel.serving.http import openapi\n"
        "from satchel.serving.mcp import tools\n"
        "told = answer({'action': 'greet', 'payload': {'project': '.', 'name': 'you'}})\n"
        "print(json.dumps({'told': told['data'], 'schemas': list(generated_files.schemas()),\n"
        " 'pages': list(generated_files.command_pages()), 'paths': list(openapi.document()['paths']),\n"
        " 'tools': [tool['name'] for tool in tools.tool_list()]}))"
    )
    found = json.loads(run(folder, call))
    assert found["told"] == {"greeting": "hello you", "files": len(SHOP)}
    assert "greet.md" in found["pages"] and "greet" in found["tools"]
    assert any("greet" in name for name in found["schemas"])
    assert any(path.endswith("/greet") for path in found["paths"])
