"""`satchel onboard`: the first page of an unknown repository, inside a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands.command import Command, Group, SaidInText, Verbatim
from satchel.commands.shared import CommitName, TokenizerName, at_ref
from satchel.errors import InvalidBudget

if TYPE_CHECKING:
    from satchel.engine import Engine

DEFAULT_TOKENS = 4_000
MOST_TOKENS = 200_000


class OnboardRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    budget_tokens: Annotated[int, Meta(description="tokens the page may take")] = DEFAULT_TOKENS
    tokenizer: TokenizerName = tokenizers.DEFAULT_BUDGET
    ref: CommitName = ""


class OnboardLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A statement and the lines that it rests on. `content_hash` is the sha256 of lines `start_line` to
    `end_line` of `path`. A count over the index, and a question that no file answers, have no path."""

    text: str
    label: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    content_hash: str = ""


class OnboardSection(msgspec.Struct, frozen=True):
    """A section of the page; `total` counts its lines at any budget."""

    title: str
    lines: list[OnboardLine]
    total: int


class OnboardResponse(msgspec.Struct, frozen=True):
    """`text` is the whole page as Markdown, which the budget counts; `sections` has its lines as data."""

    budget_tokens: int
    used_tokens: int
    tokenizer: str
    text: Annotated[str, Verbatim()]
    sections: Annotated[list[OnboardSection], SaidInText()]


def run(engine: Engine, request: OnboardRequest) -> OnboardResponse:
    """Show what a newcomer to the repository needs first, on one page inside a token budget.

    What it is, how to set up, build, test, run and check it, its layout, entry points and central
    definitions, conventions, where most changes happen, and what no file says. Each line names the lines that
    it rests on; nothing is run and nothing is made up.
    """
    tokenizer = tokenizers.get(request.tokenizer)
    if request.budget_tokens > MOST_TOKENS:
        raise InvalidBudget(
            f"the budget is {request.budget_tokens} tokens, it must be at most {MOST_TOKENS}",
            hint=f"use {DEFAULT_TOKENS}",
            details={"max_tokens": MOST_TOKENS},
        )
    room = int(request.budget_tokens / (1 + tokenizer.headroom))
    with at_ref(engine, request.ref) as asked:
        page = asked.onboarding_page(room, tokenizer.count)
    text = page.text
    used = tokenizer.count(text)
    if used > room:
        least = int(used * (1 + tokenizer.headroom)) + 1
        raise InvalidBudget(
            f"the budget is {request.budget_tokens} tokens, the shortest page takes {least}",
            details={"min_tokens": least},
        )
    sections = [
        OnboardSection(
            name.value,
            [
                OnboardLine(
                    item.text, item.label, item.path, item.start_line, item.end_line, item.content_hash
                )
                for item in facts
            ],
            len(page.sections[name]),
        )
        for name, facts in page.shown_facts().items()
    ]
    return OnboardResponse(request.budget_tokens, used, tokenizer.name, text, sections)


COMMAND = Command("onboard", OnboardRequest, OnboardResponse, run, group=Group.LOOK, of_one_folder=True)
