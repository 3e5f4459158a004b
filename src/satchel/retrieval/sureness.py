"""Is a prompt about this repository, and how sure is it that the best file answers it?

Most of what people tell an agent is not about the code: "thanks", "run the tests again", "explain monads". A
few numbers tell such prompts from questions; their weights, and the sum that is enough, are data, fitted by
`benchmarks/hooks`. Words that are said to the agent, not about the code, speak for no file.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval import ranker
from satchel.retrieval.evidence import summed
from satchel.retrieval.signals.mentions import resolve_path
from satchel.retrieval.signals.signal import Context
from satchel.terms import stem

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

WEIGHTS = "sureness"  # the file of weights
_MOST_NAMED = 2.0  # a prompt with more names is not more about the code
_MOST_NAMES = 24  # that are looked up; a report has hundreds
_LEAST_NAME = 3  # letters
_MOST_WORDS = 6.0  # a longer question is not more of one
_DIGITS = 4
_SAID_TO_AGENTS = """
    thanks thank please ok okay yes no sure great good nice perfect cool hello hi hey sorry wait
    continue go going keep stop next again retry try undo revert redo repeat done finish proceed
    you your me my mine i i'm we us our let's it that this these those there here same other another last
    now then later already still just also too instead before so far bit
    commit commits push pull branch merge rebase squash git diff checkout stash bump
    run rerun tests test build install dependencies lint linter start
    explain describe summarize tell show give write draft translate rename refactor simplify clean fix
    change changed add remove delete move make made create update edit edited open print answer think want
    need help let see look find understand know mean means work works working better wrong like
"""


class Sureness(msgspec.Struct, frozen=True):
    """What speaks for it that the best file answers a prompt.

    `meaning` is how near the file comes to the prompt in meaning, `share` the part of the prompt's words, by
    rarity, that stand together in its best unit. `named` counts paths and names, written as in code, that the
    repository has, and `telling` the words that are not said to the agent.
    """

    meaning: float = 0.0
    share: float = 0.0
    named: float = 0.0
    telling: float = 0.0

    @property
    def total(self) -> float:
        """Return the weighted sum; from 0 on it is sure enough."""
        weights = ranker.weights(WEIGHTS)
        parts = [weights[name] * float(getattr(self, name)) for name in self.__struct_fields__]
        return round(sum(parts) - weights["enough"], _DIGITS)

    @property
    def is_enough(self) -> bool:
        """Return whether the prompt is about the code and the best file answers it."""
        return self.total >= 0.0


def measure(context: Context, scores: Floats) -> Sureness:
    """Return how sure it is that the file with the best score answers the query of a context."""
    evidence = context.evidence
    best = int(np.argmax(scores))
    own = set(map(stem, context.query_terms.full_words)) - _said_stems()
    is_own = np.array([term in own for term in context.query_terms.terms], bool)
    here = (evidence.file == best) & is_own[evidence.term] if len(is_own) else np.zeros(0, bool)
    rarity = evidence.unit_rarity
    together = summed(evidence.unit[here], rarity[evidence.term[here]], len(evidence.unit_positions))
    held = float(together.max()) if here.any() else 0.0
    asked = float(rarity[is_own].sum()) if len(is_own) else 0.0
    near = evidence.postings.similarities(evidence.files[best : best + 1])
    return Sureness(
        meaning=round(float(near[0]), _DIGITS) if near is not None else 0.0,
        share=round(held / asked, _DIGITS) if asked else 0.0,
        named=min(_MOST_NAMED, _named(context)),
        telling=min(_MOST_WORDS, float(len(own))),
    )


@cache
def _said_stems() -> frozenset[str]:
    return frozenset(map(stem, _SAID_TO_AGENTS.split()))


def _named(context: Context) -> float:
    """Return how many paths and names of the query the repository has."""
    query = context.query
    paths = sum(bool(resolve_path(context.corpus, mention.path).files) for mention in query.mentions)
    names = dict.fromkeys((query.symbol, *query.title_names, *query.prose_names, *query.code_names))
    telling = [name for name in names if len(name) >= _LEAST_NAME][:_MOST_NAMES]
    defined = (item.symbol.name for symbols in context.corpus.symbols_named_many(telling) for item in symbols)
    return float(paths + len(set(defined).intersection(telling)))
