"""`satchel completion`: the script that completes commands and flags in a shell."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Group, Positional
from satchel.rendering.style import Style
from satchel.serving.shell_completion import Shell, completion_script
from satchel.serving.verbs import Verb


class CompletionRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel completion`."""

    shell: Annotated[Shell, Meta(description="the shell"), Positional()]
    json: Annotated[bool, Meta(description="print the answer as JSON")] = False


class CompletionResponse(msgspec.Struct, frozen=True):
    """The script for a shell."""

    shell: Shell
    script: str


def run(request: CompletionRequest) -> CompletionResponse:
    """Print the script that completes commands, flags and their values in bash, zsh or fish.

    satchel completion bash > ~/.local/share/bash-completion/completions/satchel
    satchel completion zsh > ~/.zfunc/_satchel
    satchel completion fish > ~/.config/fish/completions/satchel.fish

    For zsh, the folder has to be in fpath before compinit is called. To try it in the shell that runs:
    `source <(satchel completion bash)`, in fish `satchel completion fish | source`.
    """
    return CompletionResponse(request.shell, completion_script(request.shell))


def show(response: CompletionResponse, style: Style) -> str:
    """Return the script alone."""
    return response.script


VERB = Verb("completion", CompletionRequest, run, show, group=Group.SET_UP)
