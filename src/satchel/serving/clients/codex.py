"""Codex: TOML tables, read from a project only if it is trusted, and AGENTS.md."""

from __future__ import annotations

from satchel.serving.clients.client import HERE, Client, Folder, Format, Guide, Link, Place

_FOLDER = Folder("{home}/.codex", variable="CODEX_HOME")
_PROJECT = Folder("{project}")
_INSTRUCTIONS = ("AGENTS.override.md",)  # where it is there, AGENTS.md beside it is not read

CLIENT = Client(
    "codex",
    "Codex",
    executables=("codex",),
    marks=(_FOLDER,),
    user=Link(
        Place(_FOLDER, "config.toml"),
        ("mcp_servers",),
        HERE,
        Guide(Place(_FOLDER, "AGENTS.md", _INSTRUCTIONS)),
        Format.TOML,
    ),
    project=Link(
        Place(Folder("{project}/.codex"), "config.toml"),
        ("mcp_servers",),
        ".",
        Guide(Place(_PROJECT, "AGENTS.md", _INSTRUCTIONS)),
        Format.TOML,
        remark="a project's servers start only in a project that Codex trusts",
    ),
)
