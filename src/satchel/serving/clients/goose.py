"""Goose: the key `extensions` of `config.yaml`, and `.goosehints`."""

from __future__ import annotations

from typing import Any

from satchel.serving.clients import (
    HERE,
    Client,
    ClientFile,
    Folder,
    InstructionsFile,
    Registration,
    SettingsFormat,
)

_FOLDER = Folder("{config}/goose", windows="{appdata}/Block/goose/config")
_SECONDS = 300  # that a call may take; what Goose itself writes


def _entry(command: list[str]) -> dict[str, Any]:
    return {
        "name": "satchel",
        "type": "stdio",
        "cmd": command[0],
        "args": command[1:],
        "enabled": True,
        "timeout": _SECONDS,
    }


# https://block.github.io/goose/docs/guides/config-files names the file and the format. A project has no
# settings of its own.
CLIENT = Client(
    "goose",
    "Goose",
    executables=("goose",),
    marks=(_FOLDER,),
    entry=_entry,
    user=Registration(
        ClientFile(_FOLDER, "config.yaml"),
        ("extensions",),
        HERE,
        InstructionsFile(ClientFile(_FOLDER, ".goosehints")),
        SettingsFormat.YAML,
    ),
)
