"""Memory that is free goes back to the system, where the C library can do that, and not all the time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STATM = Path("/proc/self/statm")
# Blocks that the C library keeps in its heap, and one behind them that holds the heap up.
PROGRAM = """
from satchel.serving.free_memory import FreeMemory

def pages():
    return int(open("/proc/self/statm").read().split()[1])

memory = FreeMemory()
blocks = [bytes(50_000) for _ in range(2_000)]
last = bytes(50_000)
full = pages()
blocks.clear()
freed = pages()
memory.give_back()
given_back = pages()
blocks = [bytes(50_000) for _ in range(2_000)]
blocks.clear()
memory.give_back()
print(full, freed, given_back, pages())
"""


@pytest.mark.skipif(not STATM.exists() or "CS_GNU_LIBC_VERSION" not in os.confstr_names, reason="no GNU libc")
def test_what_is_free_is_given_back_but_not_every_time() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    full, freed, given_back, soon_after = map(int, done.stdout.split())
    assert freed > 0.9 * full, "the C library gave it back by itself: nothing is tried here"
    assert given_back < full - 15_000
    assert soon_after > given_back + 15_000, "it was given back again within a second"


FROZEN = """
import gc
from satchel.serving import free_memory

class Node:
    made = 0
    def __del__(self):
        Node.made -= 1

def ring():
    one = Node()
    one.other = one
    Node.made += 1
    return one

free_memory._THAW_SECONDS = 0.0 if {thaws} else 3600.0
free_memory.FrozenSurvivors()
old = ring()
gc.collect()
frozen = gc.get_freeze_count()
del old
ring()
gc.collect()
print(frozen, Node.made)
"""


@pytest.mark.parametrize(("thaws", "left"), [(False, 1), (True, 0)])
def test_what_outlived_a_search_for_cycles_is_left_out_of_the_next_until_all_is_searched(
    thaws: bool, left: int
) -> None:
    program = FROZEN.format(thaws=thaws)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    frozen, found = map(int, done.stdout.split())
    assert frozen > 1_000 and found == left
