"""A small project whose uses of `total` only a compiler decides, with the SCIP files of two real indexers.

`scip/shop_typescript.scip` and `scip/shop_python.scip` were made of these very files in the folder /tmp/shop by
scip-typescript 0.4.0 (`scip-typescript index`) and scip-python 0.6.6 (`scip-python index . --project-name shop
--project-version 1.0.0`), both from npm. To make them anew, write the files with
`make_tree(Path("/tmp/shop"), PROJECT)`.

`write_scip` makes files of the same format with any content, for what no indexer writes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from builders import make_tree

FOLDER = Path(__file__).parent / "scip"
TYPESCRIPT, PYTHON = FOLDER / "shop_typescript.scip", FOLDER / "shop_python.scip"
PROJECT = {
    "package.json": '{"name": "shop", "version": "1.0.0", "private": true}\n',
    "tsconfig.json": """\
{"compilerOptions": {"target": "es2022", "module": "commonjs", "strict": true}, "include": ["src"]}
""",
    "src/app.ts": """\
import { Basket, Till } from "./basket";
import { pickFirst as first } from "./pick";

const baskets = [new Basket().add(2), new Basket().add(3)];
const tills = new Map<string, Till>([["é", new Till()]]);

export function receipt(): string {
  const paid = baskets.map((basket) => basket.total());
  return `🧺 ${first(baskets).total()} of ${paid.length}`;
}

export function close(): number {
  return [...tills.values()].reduce((sum, till) => sum + till.total(), 0);
}
""",
    "src/basket.ts": """\
export class Basket {
  private prices: number[] = [];

  add(price: number): Basket {
    this.prices.push(price);
    return this;
  }

  total(): number {
    return this.prices.reduce((sum, price) => sum + price, 0);
  }
}

export class Till {
  total(): number {
    return 0;
  }
}
""",
    "src/pick.ts": """\
export function pickFirst<T>(things: T[]): T {
  return things[0];
}
""",
    "tools/__init__.py": "",
    "tools/ledger.py": """\
class Ledger:
    def total(self) -> int:
        return 0


class Account:
    def total(self) -> int:
        return 1
""",
    "tools/report.py": """\
from tools.ledger import Account, Ledger

LEDGERS = {"2025": Ledger(), "2026": Ledger()}


def report() -> int:
    return max(ledger.total() for ledger in LEDGERS.values())


def balance(accounts: list[Account]) -> int:
    return sum(map(lambda account: account.total(), accounts))
""",
}
LONG_AGO = 1_000_000_000  # seconds


def make_project(root: Path) -> Path:
    """Write the project, as it was before its SCIP files were."""
    make_tree(root, PROJECT)
    for path in PROJECT:
        os.utime(root / path, (LONG_AGO, LONG_AGO))
    return root


def fresh(file: Path, folder: Path) -> Path:
    """Return a copy of a SCIP file that was written just now, as a clone may write files in any order."""
    target = folder / file.name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    return target


class Occurrence(NamedTuple):
    """A symbol at a range, as a SCIP file has it."""

    range: Sequence[int]
    symbol: str
    roles: int = 0


class Document(NamedTuple):
    """What a SCIP file says about a file."""

    path: str
    occurrences: Sequence[Occurrence] = ()
    encoding: int = 0
    text: str = ""


def varint(number: int) -> bytes:
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes([*data, number])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def scip_bytes(documents: Iterable[Document], project_root: str = "") -> bytes:
    """Return a SCIP index."""
    data = field(1, field(2, field(1, "tests")) + field(3, project_root))
    for document in documents:
        body = field(1, document.path)
        for item in document.occurrences:
            place = b"".join(map(varint, item.range))
            body += field(2, field(1, place) + field(2, item.symbol) + field(3, item.roles))
        body += field(5, document.text) if document.text else b""
        data += field(2, body + field(6, document.encoding))
    return data


def write_scip(file: Path, *documents: Document, project_root: str = "") -> Path:
    """Write a SCIP index and return its file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(scip_bytes(documents, project_root))
    return file
