"""What does the code say on a prompt, if it is sure that the prompt is about it? Otherwise nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from satchel.errors import InvalidBudget
from satchel.pack_pipeline import PackPipeline
from satchel.pack_request import PackRequest
from satchel.packing.pack import Pack
from satchel.retrieval.filters import Filters
from satchel.retrieval.search import MAX_QUERY_CHARS
from satchel.retrieval.sureness import Sureness
from satchel.tokenizers import Tokenizer

_CHARS_PER_TOKEN = 4  # of the first try; counting every passage exactly takes longer than all the rest
_TRIES = 6
_SLACK = 0.93  # of what should fit by the last try
_TIMES_CHANGED = 3  # packs that may turn out to cite a file that changed since


class Recall(msgspec.Struct, frozen=True):
    """How sure it is that the prompt is about the code, and the pack; None if it is not sure enough, or if
    what it would cite has changed since it was indexed."""

    sureness: Sureness
    pack: Pack | None = None
    used_tokens: int = 0


class PromptRecall(msgspec.Struct, frozen=True):
    """Makes the pack of a prompt. `pipeline` makes what answers a request, `changed` says which of some files
    are not as they were indexed."""

    pipeline: Callable[[PackRequest], PackPipeline]
    changed: Callable[[Sequence[str]], Sequence[str]]
    render: Callable[[Pack], str]
    tokenizer: Tokenizer
    budget: int

    def of(self, prompt: str) -> Recall:
        """Return the pack of a prompt, within the budget, if it is sure enough."""
        left_out: tuple[str, ...] = ()
        found = Recall(Sureness())
        for _ in range(_TIMES_CHANGED):
            found = self._without(prompt[:MAX_QUERY_CHARS], left_out)
            items = found.pack.items if found.pack else ()
            changed = self.changed(sorted({item.path for item in items}))
            if not changed:
                return found
            left_out = (*left_out, *changed)
        return Recall(found.sureness)

    def _without(self, prompt: str, left_out: tuple[str, ...]) -> Recall:
        chars = self.budget * _CHARS_PER_TOKEN
        room = int(self.budget / (1 + self.tokenizer.headroom))
        request = PackRequest(
            query=prompt, filters=Filters(exclude_paths=left_out), max_chars=chars, tokenizer="chars4"
        )
        pipeline = self.pipeline(request)
        sureness = pipeline.sureness()
        if not sureness.is_enough:
            return Recall(sureness)
        for _ in range(_TRIES):
            request = msgspec.structs.replace(request, max_chars=chars)
            pack = pipeline.pack(request.gauge(self.render))
            used = self.tokenizer.count(self.render(pack))
            if used <= room:
                return Recall(sureness, pack, used) if pack.items else Recall(sureness)
            chars = int(chars * room / used * _SLACK)
        raise InvalidBudget(f"no pack fits {self.budget} tokens", hint="give a larger budget")
