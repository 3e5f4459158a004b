"""Is an index in PostgreSQL whole whoever is killed, and whenever?

    python benchmarks/faulting/postgres_kills.py [--rounds 40] [--seed 1]

In each round some files of a small tree change and `satchel index` starts; after a random time the client or
the server is killed (`kill -9`), the server is started again, and the index is read: it has to be exactly the
one before the round or exactly the one after it, never something between. At the end a last refresh has to
give what a fresh index of the tree gives. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests"))
from builders import dump_tables
from postgres_server import PostgresServer, shared_server

from satchel.engine import Engine
from satchel.errors import IndexMissing
from satchel.storage import open_store

FILES = 200
CHANGED = 40
LONGEST_SECONDS = 9.0  # before a kill; on a busy machine some refreshes end earlier, and some do not


def write(root: Path, chance: random.Random, count: int) -> None:
    """Write some files of the tree anew."""
    for number in chance.sample(range(FILES), count):
        path = root / f"part{number % 9}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        other = chance.randrange(FILES)
        body = "".join(f"    def act_{chance.randrange(10**6)}(self):\n        pass\n\n" for _ in range(15))
        path.write_text(
            f"from part{other % 9}.module{other} import Thing{other}\n\n\nclass Thing{number}:\n{body}"
        )


def contents(place: str) -> object:
    """Return everything that an index says of files, or None if there is none."""
    try:
        with closing(open_store(place).snapshot()) as snapshot:
            return dump_tables(snapshot)
    except IndexMissing:
        return None


def fresh(root: Path) -> object:
    with tempfile.TemporaryDirectory() as folder, Engine.open(root, index_dir=folder) as engine:
        engine.refresh()
        return dump_tables(engine.snapshot())


def one_round(server: PostgresServer, root: Path, place: str, chance: random.Random) -> str:
    """Change files, index them, kill somebody, and return what was found."""
    before = contents(place)
    write(root, chance, CHANGED)
    after = fresh(root)
    client = subprocess.Popen(
        [sys.executable, "-m", "satchel", "index", "--segment", root, "--index-dir", place],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(chance.uniform(0.2, LONGEST_SECONDS))
    victim = chance.choice(("client", "server"))
    if victim == "client":
        client.send_signal(signal.SIGKILL)
    else:
        server.kill()
    client.wait()
    if victim == "server":
        server.start()
    found = contents(place)
    state = "as before" if found == before else "as after" if found == after else "HALF"
    return f"{victim} killed, index {state}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    server = shared_server()
    place = server.place("kills")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "tree")
        write(root, chance, FILES)
        counts: Counter[str] = Counter()
        for _ in range(arguments.rounds):
            counts[one_round(server, root, place, chance)] += 1
        with Engine.open(root, index_dir=place) as engine:
            engine.refresh()
        is_whole = contents(place) == fresh(root)
    for said, count in sorted(counts.items()):
        print(f"{count:4} × {said}")
    print(f"after the last refresh the index is {'that' if is_whole else 'NOT that'} of a fresh one")
    return int(not is_whole or any("HALF" in said for said in counts))


if __name__ == "__main__":
    sys.exit(main())
