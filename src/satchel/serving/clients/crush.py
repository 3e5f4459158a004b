"""Crush: the key `mcp` of `crush.json`, and AGENTS.md."""

from __future__ import annotations

from satchel.serving.clients import (
    HERE,
    Client,
    ClientFile,
    Folder,
    InstructionsFile,
    Registration,
    typed_entry,
)

_USER = Folder("{config}/crush", windows="{home}/AppData/Local/crush")
_PROJECT = Folder("{project}")

# https://github.com/charmbracelet/crush (README, Configuration and MCPs) names the files and the format.
CLIENT = Client(
    "crush",
    "Crush",
    executables=("crush",),
    marks=(_USER,),
    entry=typed_entry,
    user=Registration(ClientFile(_USER, "crush.json"), ("mcp",), HERE),
    project=Registration(
        ClientFile(_PROJECT, "crush.json", (".crush.json",)),
        ("mcp",),
        ".",
        InstructionsFile(ClientFile(_PROJECT, "AGENTS.md")),
    ),
)
