"""Which lines of a passage are shown when it does not fit whole, and which line names a file?"""

from __future__ import annotations

from pathlib import Path

from builders import age, make_tree, memory_engine

BODY = "".join(f"    total = add(total, {number})  # step {number} of the sum\n" for number in range(90))
LONG = f"def first():\n    return 1\n\n\ndef summed(total):\n    {BODY.lstrip()}    return total\n"


def peers(file: int) -> str:
    """A C file whose only function has its type on a line of its own."""
    steps = "".join(f"    peer = ngx_http_next{file}(peer, {number});\n" for number in range(60))
    return f"static ngx_int_t\nngx_http_peer_get{file}(void *peer)\n{{\n{steps}    return 1;\n}}\n"


def test_the_line_of_a_stack_frame_is_in_the_part_that_is_shown(tmp_path: Path) -> None:
    engine = memory_engine(age(make_tree(tmp_path, {"shop/sums.py": LONG})))
    report = (
        "The sum is wrong\n\nTraceback (most recent call last):\n"
        '  File "/home/me/shop/sums.py", line 71, in summed\n    total = add(total, 65)\nValueError: sum\n'
    )
    for budget in range(220, 1400, 100):
        items = engine.pack(report, budget_tokens=budget).items
        shown = [item for item in items if item.start_line <= 71 <= item.end_line]
        assert shown or not items, budget
    assert shown


def test_the_definition_that_answers_comes_before_its_neighbours(tmp_path: Path) -> None:
    constants = "".join(f"LIMIT_{number} = {number}\n" for number in range(12))
    text = f"{constants}\n\ndef unrelated():\n    return 1\n\n\ndef retry_payment(card):\n    return card\n"
    engine = memory_engine(age(make_tree(tmp_path, {"pay.py": text})))
    (item,) = engine.pack("retry_payment", budget_tokens=60).items
    assert "def retry_payment" in item.content


def test_a_function_of_c_is_named_by_the_line_that_has_its_name(tmp_path: Path) -> None:
    files = {f"src/peer{number}.c": peers(number) for number in range(8)}
    engine = memory_engine(age(make_tree(tmp_path, files)))
    items = engine.pack("which http peer functions are there", budget_tokens=1500).items
    named = [item.content for item in items if item.reasons == ("map",)]
    assert named and all("ngx_http_peer" in line for line in named)
