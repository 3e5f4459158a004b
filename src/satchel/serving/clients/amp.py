"""Amp: the key `amp.mcpServers` in its settings, and AGENTS.md."""

from __future__ import annotations

from satchel.serving.clients import HERE, Client, ClientFile, Folder, InstructionsFile, Registration

_USER = Folder("{home}/.config/amp")  # on every system
_KEYS = ("amp.mcpServers",)  # one key with a dot, not two keys

# https://ampcode.com/manual names the files and the key.
CLIENT = Client(
    "amp",
    "Amp",
    executables=("amp",),
    marks=(_USER,),
    user=Registration(
        ClientFile(_USER, "settings.json", ("settings.jsonc",)),
        _KEYS,
        HERE,
        InstructionsFile(ClientFile(_USER, "AGENTS.md")),
    ),
    project=Registration(
        ClientFile(Folder("{project}/.amp"), "settings.json", ("settings.jsonc",)),
        _KEYS,
        ".",
        InstructionsFile(ClientFile(Folder("{project}"), "AGENTS.md")),
        remark="a project's servers are asked for once: start amp in the project and approve",
    ),
)
