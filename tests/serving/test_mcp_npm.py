"""Clients that others wrote, from npm: run with SATCHEL_NPM_TESTS=1, which installs them in a temporary folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, age, clean_environment, make_tree

PACKAGES = ("@modelcontextprotocol/inspector", "@anthropic-ai/claude-code")
SERVE = (sys.executable, "-m", "satchel", "serve", "mcp")

pytestmark = [
    pytest.mark.skipif(os.environ.get("SATCHEL_NPM_TESTS") != "1", reason="set SATCHEL_NPM_TESTS=1"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the installed programs."""
    folder = tmp_path_factory.mktemp("npm")
    run(folder, "npm", "install", "--no-audit", "--no-fund", *PACKAGES)
    package = folder / "node_modules" / PACKAGES[1]
    run(package, "node", "install.cjs")
    return folder / "node_modules" / ".bin"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return age(make_tree(tmp_path / "shop", SHOP))


def run(folder: Path, *words: str | Path, home: Path | None = None) -> str:
    environment = clean_environment({"HOME": str(home)} if home else None)
    done = subprocess.run(
        [*map(str, words)], cwd=folder, env=environment, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def inspected(clients: Path, shop: Path, *words: str) -> Any:
    program = clients / "mcp-inspector"
    return json.loads(run(shop, program, "--cli", *SERVE, "--segment", shop, *words))


def test_the_inspector_lists_and_calls_the_tools(clients: Path, shop: Path) -> None:
    tools = inspected(clients, shop, "--method", "tools/list")["tools"]
    call = ("--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=add money")
    answer = inspected(clients, shop, *call)
    assert len(tools) == 8 and answer["structuredContent"]["data"]["hits"][0]["path"] == "src/money.py"
    assert "CHUNK_ID" in answer["content"][0]["text"]


def test_the_inspector_reads_a_chunk(clients: Path, shop: Path) -> None:
    read = inspected(clients, shop, "--method", "resources/read", "--uri", "satchel://chunk/src/money.py:4:6")
    assert read["contents"][0]["text"].startswith("def add_money")


def test_claude_code_connects(clients: Path, shop: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    run(shop, clients / "claude", "mcp", "add", "satchel", "--", *SERVE, "--segment", shop, home=home)
    assert "Connected" in run(shop, clients / "claude", "mcp", "list", home=home)
