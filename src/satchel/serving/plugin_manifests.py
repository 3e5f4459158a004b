"""The manifests by which agent clients and registries find Satchel, made from one version and description.

They are kept in the repository, where clients look for them; a test notices a drift. The folder
`plugins/satchel` is the plug-in for Claude Code, Codex and Cursor: each reads its own manifest, the server
and the skill are shared. Where each format is written down:
https://code.claude.com/docs/en/plugins-reference, https://developers.openai.com/plugins/build/plugins,
https://cursor.com/docs/reference/plugins, https://geminicli.com/docs/extensions/reference,
https://modelcontextprotocol.io/registry/package-types.
"""

from __future__ import annotations

import json
from typing import Any

from satchel._version import __version__
from satchel.serving.installing.instructions import BLOCK, SKILL_HEAD

NAME = "satchel"
DISTRIBUTION = "satchel-context"
PLUGIN = "plugins/satchel"
# The registry takes 100 characters at most.
DESCRIPTION = "Cited context packs of a repository for coding agents: offline, deterministic, inside a budget"
REGISTRY_NAME = "io.github.satchel-context/satchel"  # the namespace is that of the account that publishes
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_COMMAND = {"command": NAME, "args": ["serve", "mcp"]}
_KEYWORDS = ["code search", "context", "citations", "mcp"]


def manifest_files() -> dict[str, str]:
    """Return all manifests by their paths in the repository."""
    values: dict[str, Any] = {
        ".claude-plugin/marketplace.json": _claude_marketplace(),
        ".cursor-plugin/marketplace.json": _claude_marketplace(),
        ".agents/plugins/marketplace.json": _codex_marketplace(),
        f"{PLUGIN}/.claude-plugin/plugin.json": _plugin(),
        f"{PLUGIN}/.codex-plugin/plugin.json": _codex_plugin(),
        f"{PLUGIN}/.cursor-plugin/plugin.json": {**_plugin(), "mcpServers": "./mcp.json"},
        f"{PLUGIN}/.mcp.json": {"mcpServers": {NAME: _COMMAND}},
        f"{PLUGIN}/mcp.json": {"mcpServers": {NAME: _in_open_folder()}},
        "gemini-extension.json": _gemini_extension(),
        "server.json": registry_entry(),
    }
    texts = {path: json.dumps(value, indent=2) + "\n" for path, value in values.items()}
    return {**texts, f"{PLUGIN}/skills/satchel/SKILL.md": SKILL_HEAD + BLOCK}


def _plugin() -> dict[str, Any]:
    """Return the manifest of the plug-in for Claude Code, which finds server and skill by their places."""
    return {
        "name": NAME,
        "version": __version__,
        "description": DESCRIPTION,
        "author": {"name": "Satchel"},
        "license": "Apache-2.0",
        "keywords": _KEYWORDS,
    }


def _codex_plugin() -> dict[str, Any]:
    """Return the manifest of the plug-in for Codex, which names its parts and how it is shown."""
    shown = {
        "displayName": "Satchel",
        "shortDescription": "Cited context of your repository",
        "longDescription": DESCRIPTION,
        "developerName": "Satchel",
        "category": "Developer Tools",
        "capabilities": ["Read"],
    }
    return {**_plugin(), "skills": "./skills/", "mcpServers": "./.mcp.json", "interface": shown}


def _in_open_folder() -> dict[str, Any]:
    """Return the server entry for Cursor, which starts servers anywhere and knows the open folder."""
    return {"command": NAME, "args": ["serve", "mcp", "--segment", "${workspaceFolder}"]}


def _claude_marketplace() -> dict[str, Any]:
    """Return the list of plug-ins of this repository, as Claude Code and Cursor read it."""
    entry = {"name": NAME, "source": f"./{PLUGIN}", "description": DESCRIPTION, "version": __version__}
    return {
        "name": NAME,
        "owner": {"name": "Satchel"},
        "metadata": {"description": DESCRIPTION, "version": __version__},
        "plugins": [entry],
    }


def _codex_marketplace() -> dict[str, Any]:
    """Return the list of plug-ins of this repository, as Codex reads it."""
    entry = {
        "name": NAME,
        "source": {"source": "local", "path": f"./{PLUGIN}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Developer Tools",
    }
    return {"name": NAME, "interface": {"displayName": "Satchel"}, "plugins": [entry]}


def _gemini_extension() -> dict[str, Any]:
    """Return the extension of Gemini CLI, whose folder is this repository."""
    return {
        "name": NAME,
        "version": __version__,
        "description": DESCRIPTION,
        "mcpServers": {NAME: _COMMAND},
        "contextFileName": f"{PLUGIN}/skills/satchel/SKILL.md",
    }


def registry_entry() -> dict[str, Any]:
    """Return the entry of the MCP registry: a package that `uvx` starts with the extra it needs."""
    package = {
        "registryType": "pypi",
        "identifier": DISTRIBUTION,
        "version": __version__,
        "runtimeHint": "uvx",
        "runtimeArguments": [
            {"type": "named", "name": "--with", "value": f"{DISTRIBUTION}[mcp]=={__version__}"},
        ],
        "packageArguments": [
            {"type": "positional", "value": "serve"},
            {"type": "positional", "value": "mcp"},
        ],
        "transport": {"type": "stdio"},
    }
    return {
        "$schema": REGISTRY_SCHEMA,
        "name": REGISTRY_NAME,
        "title": "Satchel",
        "description": DESCRIPTION,
        "version": __version__,
        "packages": [package],
    }
