"""Members that override others: who calls the member of a base type may run that of a derived type."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Files, make_tree, memory_engine

from satchel.code_facts import Target
from satchel.commands import impact, refs
from satchel.rendering import agent_text
from satchel.retrieval.overrides import overridden, overriding
from satchel.retrieval.relation_questions import relation_passages

PYTHON: Files = {
    "bank/base.py": "class Bank:\n    def __init__(self):\n        pass\n\n    def charge(self, card):\n        pass\n",
    "bank/slow.py": "from bank.base import Bank\n\n\nclass SlowBank(Bank):\n    def wait(self):\n        pass\n",
    "bank/safe.py": (
        "from bank.slow import SlowBank\n\n\nclass SafeBank(SlowBank):\n    def __init__(self):\n        pass\n\n"
        "    def charge(self, card):\n        self.wait()\n"
    ),
    "shop/till.py": "from bank.base import Bank\n\n\ndef pay(bank: Bank, card):\n    bank.charge(card)\n",
    "shop/other.py": "class Other:\n    def charge(self, card):\n        pass\n",
}
JAVA: Files = {
    "src/bank/Bank.java": "package bank;\n\npublic interface Bank {\n    void charge(String card);\n}\n",
    "src/bank/SafeBank.java": (
        "package bank;\n\npublic class SafeBank implements Bank {\n"
        "    public void charge(String card) {\n    }\n}\n"
    ),
    "src/shop/Till.java": (
        "package shop;\n\nimport bank.Bank;\n\nclass Till {\n    private final Bank bank;\n\n"
        "    Till(Bank bank) {\n        this.bank = bank;\n    }\n\n"
        "    void pay(String card) {\n        bank.charge(card);\n    }\n}\n"
    ),
}
TYPESCRIPT: Files = {
    "src/bank.ts": "export interface Bank {\n  charge(card: string): void;\n}\n",
    "src/safe.ts": (
        "import { Bank } from './bank';\n\nexport class SafeBank implements Bank {\n"
        "  charge(card: string): void {}\n}\n"
    ),
    "src/till.ts": (
        "import { Bank } from './bank';\n\nexport function pay(bank: Bank): void {\n  bank.charge('1');\n}\n"
    ),
}
SAFE = Target("bank/safe.py", "SafeBank.charge")
BASE = Target("bank/base.py", "Bank.charge")


def test_a_member_overrides_that_of_a_base_through_types_that_have_none(tmp_path: Path) -> None:
    corpus = memory_engine(make_tree(tmp_path, PYTHON)).corpus()
    assert overridden(corpus, SAFE) == [BASE] and overriding(corpus, BASE) == [SAFE]
    assert overriding(corpus, SAFE) == overridden(corpus, BASE) == []
    assert overridden(corpus, Target("shop/other.py", "Other.charge")) == []


def test_constructors_override_nothing(tmp_path: Path) -> None:
    corpus = memory_engine(make_tree(tmp_path, PYTHON)).corpus()
    assert overridden(corpus, Target("bank/safe.py", "SafeBank.__init__")) == []


def test_a_walk_over_types_that_extend_each_other_ends(tmp_path: Path) -> None:
    tree: Files = {
        "a.py": "from b import B\n\n\nclass A(B):\n    def go(self):\n        pass\n",
        "b.py": "from a import A\n\n\nclass B(A):\n    def go(self):\n        pass\n",
    }
    assert overridden(memory_engine(make_tree(tmp_path, tree)).corpus(), Target("a.py", "A.go")) == [
        Target("b.py", "B.go")
    ]


@pytest.mark.parametrize(
    ("tree", "name", "caller"),
    [
        (PYTHON, "SafeBank.charge", "pay"),
        (JAVA, "SafeBank.charge", "pay"),
        (TYPESCRIPT, "SafeBank.charge", "pay"),
    ],
    ids=["python", "java", "typescript"],
)
def test_who_calls_the_base_may_break(tmp_path: Path, tree: Files, name: str, caller: str) -> None:
    engine = memory_engine(make_tree(tmp_path, tree))
    found = impact.run(engine, impact.ImpactRequest(name=name))
    assert [item.name.rpartition(".")[2] for item in found.items] == [caller]
    below = impact.run(engine, impact.ImpactRequest(name="Bank.charge"))
    assert {item.name.rpartition(".")[2] for item in below.items} == {caller, "charge"}


def test_refs_tell_what_is_overridden_with_its_uses_and_mix_in_none(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, PYTHON))
    found = refs.run(engine, refs.RefsRequest(name="SafeBank.charge"))
    assert found.total == 0 and found.references == []
    assert [(item.qualified_name, item.uses) for item in found.overrides] == [("Bank.charge", 1)]
    text = agent_text.render(found)
    assert "overrides bank/base.py:5-6 method def charge(self, card) (1 use, which may run it)" in text
    base = refs.run(engine, refs.RefsRequest(name="Bank.charge"))
    assert [item.qualified_name for item in base.overridden_by] == ["SafeBank.charge"]
    assert "overridden by bank/safe.py:8-9 method" in agent_text.render(base)


def test_a_question_for_callers_is_answered_by_those_of_the_base(tmp_path: Path) -> None:
    corpus = memory_engine(make_tree(tmp_path, PYTHON)).corpus()
    assert [item.path for item in relation_passages(corpus, "who calls SafeBank.charge")] == ["shop/till.py"]
    found = relation_passages(corpus, "implementations of Bank.charge")
    (passage,) = found
    assert passage.path == "bank/safe.py" and passage.start_line <= 8 <= passage.end_line
