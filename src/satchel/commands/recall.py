"""`satchel recall`: what the code says on a prompt, if the prompt is about it and the answer is sure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands.command import Command, Positional, SaidInText, Verbatim
from satchel.commands.shared import AGENT_TEXT, TokenizerName
from satchel.errors import InvalidBudget, InvalidQuery

if TYPE_CHECKING:
    from satchel.commands.session import Session

DEFAULT_TOKENS = 2_000
LEAST_TOKENS = 200  # fewer hold no passage beside its citation
MOST_TOKENS = 20_000


class RecallRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    prompt: Annotated[str, Meta(description="what the user wrote"), Positional()] = ""
    budget_tokens: Annotated[int, Meta(description="tokens it may take")] = DEFAULT_TOKENS
    tokenizer: TokenizerName = tokenizers.DEFAULT_BUDGET


class RecallResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`text` is the pack that agents read, empty if it is not `sure`. The numbers say what speaks for it;
    `total` is their weighted sum, which is enough from 0 on."""

    sure: bool
    total: float
    signals: Annotated[dict[str, float], SaidInText()]
    budget_tokens: Annotated[int, SaidInText()]
    used_tokens: Annotated[int, SaidInText()] = 0
    items: Annotated[int, SaidInText()] = 0
    text: Annotated[str, Verbatim()] = ""


def run(session: Session, request: RecallRequest) -> RecallResponse:
    """Give what the code says on a prompt if it is about the code and the answer is sure, and nothing
    otherwise.

    This is what `satchel hook` asks for clients that run a command on every prompt: a small pack of cited
    lines, or silence for "thanks", "run the tests again" and whatever else has nothing to do with the code.
    """
    if not request.prompt.strip():
        raise InvalidQuery("there is no prompt", hint='satchel recall "why is the cookie not deleted?"')
    if not LEAST_TOKENS <= request.budget_tokens <= MOST_TOKENS:
        raise InvalidBudget(
            f"the budget is {request.budget_tokens} tokens, it must be from {LEAST_TOKENS} to {MOST_TOKENS}",
            details={"min_tokens": LEAST_TOKENS, "max_tokens": MOST_TOKENS},
        )
    render = session.formats.get(AGENT_TEXT).render
    tokenizer = tokenizers.get(request.tokenizer)
    found = session.engine.recall(request.prompt, request.budget_tokens, tokenizer, render)
    return RecallResponse(
        sure=found.pack is not None,
        total=found.sureness.total,
        signals={name: getattr(found.sureness, name) for name in found.sureness.__struct_fields__},
        budget_tokens=request.budget_tokens,
        used_tokens=found.used_tokens,
        items=len(found.pack.items) if found.pack else 0,
        text=render(found.pack) if found.pack else "",
    )


COMMAND = Command("recall", RecallRequest, RecallResponse, run, takes_session=True)
