"""How sure it is that a prompt is about the code: names of the code speak for it, words to the agent do not."""

from __future__ import annotations

import pytest
from builders import SHOP, make_tree

from satchel import Engine
from satchel.pack_request import PackRequest
from satchel.retrieval import ranker
from satchel.retrieval.sureness import WEIGHTS, Sureness


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(make_tree(tmp_path_factory.mktemp("sure") / "shop", SHOP))
    engine.refresh()
    return engine


def sureness(engine: Engine, prompt: str) -> Sureness:
    return engine.pipeline(PackRequest(query=prompt)).sureness()


def test_every_number_has_its_weight() -> None:
    assert set(ranker.weights(WEIGHTS)) == {*Sureness.__struct_fields__, "enough"}
    assert not Sureness().is_enough


def test_names_and_paths_of_the_repository_count(engine: Engine) -> None:
    assert sureness(engine, "what does add_money do").named == 1
    assert sureness(engine, "look at src/basket.py and add_money").named == 2
    assert sureness(engine, "what does subtract_money do").named == 0
    assert sureness(engine, "see src/absent.py").named == 0


def test_words_that_are_said_to_the_agent_count_for_nothing(engine: Engine) -> None:
    assert sureness(engine, "please run the tests again") == Sureness(
        meaning=sureness(engine, "please run the tests again").meaning
    )
    asked = sureness(engine, "basket items")
    assert sureness(engine, "please show me the basket items again").telling == asked.telling == 2
    assert asked.share == 1.0


def test_it_grows_with_every_number() -> None:
    least = Sureness(0.4, 0.5, 0.0, 2.0)
    for name in Sureness.__struct_fields__:
        values = {field: getattr(least, field) for field in Sureness.__struct_fields__}
        assert Sureness(**{**values, name: values[name] + 1.0}).total > least.total
