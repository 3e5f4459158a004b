"""Zed: `context_servers` in the settings, and the first file of instructions that it finds."""

from __future__ import annotations

from satchel.serving.clients import HERE, Client, ClientFile, Folder, InstructionsFile, Registration

_USER = Folder("{config}/zed", "{home}/.config/zed", "{appdata}/Zed")

CLIENT = Client(
    "zed",
    "Zed",
    executables=("zed", "zeditor"),
    marks=(_USER,),
    user=Registration(
        ClientFile(_USER, "settings.json"),
        ("context_servers",),
        HERE,
        InstructionsFile(ClientFile(_USER, "AGENTS.md")),
    ),
    project=Registration(
        ClientFile(Folder("{project}/.zed"), "settings.json"),
        ("context_servers",),
        ".",
        InstructionsFile(
            ClientFile(
                Folder("{project}"),
                "AGENTS.md",
                # Zed reads one file alone: a new one would hide the one that the project has
                (
                    ".rules",
                    ".cursorrules",
                    ".windsurfrules",
                    ".clinerules",
                    ".github/copilot-instructions.md",
                    "AGENT.md",
                ),
                after=("CLAUDE.md", "GEMINI.md"),
            )
        ),
    ),
)
