"""`satchel hook`: what clients with prompt hooks run: a prompt in, cited lines out, or nothing.

A hook must never disturb its client: whatever goes wrong is told on standard error, and the exit code is 0.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from satchel.commands.command import Flag, Group
from satchel.commands.freshness import NoFreshener, ReindexItem
from satchel.commands.recall import COMMAND, DEFAULT_TOKENS, RecallRequest, RecallResponse
from satchel.commands.session import Session
from satchel.engine import Engine
from satchel.errors import InvalidRequest, SatchelError
from satchel.rendering.packs import PACK_FORMATS
from satchel.serving import local_client
from satchel.serving.verbs import Verb
from satchel.visible_json import compact

_MOST_BYTES = 1 << 20  # of what a client sends; a prompt is far shorter
_JSON_EVENTS = frozenset({"BeforeAgent"})  # of clients that take nothing but JSON
_REPOSITORY = ".git"
_FAILED = 1
_SERVER_SECONDS = 1.0  # a server that indexes just now is not waited for


class HookRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel hook`."""

    budget_tokens: Annotated[int, Meta(description="tokens the answer may take")] = DEFAULT_TOKENS
    strict: Annotated[bool, Meta(description="end with an exit code if something is wrong")] = False
    build: Annotated[bool, Meta(description="bring the index up to date first, or build it")] = False
    segment: Annotated[
        str, Meta(description="the project (default: the folder that the client names, or .)"), Flag("-s")
    ] = ""


class HookEvent(msgspec.Struct, frozen=True):
    """What a client sends to a hook; it sends more, which no answer needs."""

    prompt: str = ""
    cwd: str = ""
    hook_event_name: str = ""


class AsIs(NoFreshener):
    """Takes the index as it is: a file that changed since is left out of the answer."""

    def freshen(self, engine: Engine, budget_ms: int) -> ReindexItem | None:
        return None


def run(request: HookRequest) -> int:
    """Answer a prompt hook: read the prompt of a client from standard input, and print what the code says on
    it, if it is about the code and the answer is sure.

    The input is the JSON of the client (`prompt`, `cwd`) or the plain prompt. Nothing is printed for other
    prompts, nor without an index. What goes wrong is told on standard error; the exit code is 0 all the same,
    unless --strict is given. `satchel install --hooks` adds it to clients.
    """
    try:
        event = read_event(sys.stdin.buffer.read(_MOST_BYTES + 1))
        root = project_of(Path(request.segment or event.cwd or "."))
        found = _recall(root, event.prompt, request) if event.prompt.strip() and root is not None else None
        if found is not None and found.sure:
            sys.stdout.write(_shown(found.text, event.hook_event_name))
    except Exception as error:
        message = error.message if isinstance(error, SatchelError) else f"{type(error).__name__}: {error}"
        print(f"satchel hook: {message}", file=sys.stderr)
        return _FAILED if request.strict else 0
    return 0


def read_event(data: bytes) -> HookEvent:
    """Return what a client sent: its JSON, or a plain prompt."""
    if len(data) > _MOST_BYTES:
        raise InvalidRequest(f"the input has more than {_MOST_BYTES:,} bytes", hint="send a shorter prompt")
    if not data.lstrip().startswith(b"{"):
        return HookEvent(data.decode("utf-8", "replace").replace("\0", " "))
    try:
        event = msgspec.json.decode(data, type=HookEvent)
    except msgspec.MsgspecError as error:
        raise InvalidRequest(f"the input is no event of a client: {error}") from None
    return msgspec.structs.replace(event, prompt=event.prompt.replace("\0", " "))


def project_of(folder: Path) -> Path | None:
    """Return the nearest folder with an index, up to the root of the repository; None if there is none."""
    start = folder.resolve()
    for place in (start, *start.parents):
        if place.is_dir() and Engine.open(place).store.exists():
            return place
        if (place / _REPOSITORY).exists():
            return None
    return None


def _recall(root: Path, prompt: str, request: HookRequest) -> RecallResponse | None:
    """Return the answer of a running server of the project, or of this process."""
    words = [
        "recall",
        f"--prompt={prompt}",
        f"--budget-tokens={request.budget_tokens}",
        "--json",
        "-s",
        str(root),
    ]
    answer = local_client.fetch_answer(words, _SERVER_SECONDS)
    if answer is not None and not answer[0]:
        return msgspec.json.decode(answer[2], type=RecallResponse)
    asked = RecallRequest(prompt=prompt, budget_tokens=request.budget_tokens)
    with Engine.open(root) as opened, opened.for_caller() as engine:
        if request.build:
            engine.ensure_fresh()
        with Session(engine, PACK_FORMATS, freshener=AsIs(), project=str(root)) as session:
            found: RecallResponse = session.run(COMMAND, asked, msgspec.to_builtins(asked))
            return found


def _shown(text: str, event: str) -> str:
    """Return the text as the client of an event takes it."""
    if event not in _JSON_EVENTS:
        return text
    output: dict[str, Any] = {"hookEventName": event, "additionalContext": text}
    return compact({"hookSpecificOutput": output}) + "\n"


VERB = Verb("hook", HookRequest, run, group=Group.SERVE)
