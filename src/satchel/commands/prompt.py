"""`satchel prompt`: a description of the repository for a system prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands.build import Scope
from satchel.commands.command import Command, Group, Verbatim
from satchel.commands.shared import TokenizerName
from satchel.packing.prompt import build_prompt

if TYPE_CHECKING:
    from satchel.engine import Engine


class PromptRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    scope: Annotated[Scope, Meta(description="documents only, or code as well")] = Scope.DOCS
    budget_tokens: Annotated[int, Meta(description="tokens the block may take")] = 2000
    tokenizer: TokenizerName = tokenizers.DEFAULT


class PromptResponse(msgspec.Struct, frozen=True):
    text: Annotated[str, Verbatim()]
    budget_tokens: int
    used_tokens: int
    tokenizer: str
    shown: int
    summarised: int
    digests_shown: int = 0
    digests_summarised: int = 0


def run(engine: Engine, request: PromptRequest) -> PromptResponse:
    """Print the digest, the index and how to fetch, ready for a system prompt and inside a budget."""
    tokenizer = tokenizers.get(request.tokenizer)
    pack = engine.pack_layers(documents_only=request.scope is Scope.DOCS)
    prompt = build_prompt(pack, request.budget_tokens, tokenizer.count)
    return PromptResponse(
        text=prompt.text,
        budget_tokens=request.budget_tokens,
        used_tokens=tokenizer.count(prompt.text),
        tokenizer=tokenizer.name,
        shown=prompt.shown,
        summarised=prompt.summarised,
        digests_shown=prompt.digests_shown,
        digests_summarised=prompt.digests_summarised,
    )


COMMAND = Command("prompt", PromptRequest, PromptResponse, run, group=Group.SET_UP)
