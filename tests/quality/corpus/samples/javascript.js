#!/usr/bin/env node
'use strict';

// Opens the shop's books.
import fs, { readFile } from 'node:fs';
import * as ledger from './ledger.js';
export * from './prices.js';
const { format } = require('./format');

/** How many lines one page holds. */
export const PAGE_LINES = 40, MARGIN = 4;
let opened;

/**
 * Adds up amounts.
 *
 * @param {number[]} amounts
 */
export const sum = (amounts) => amounts.reduce((total, amount) => total + amount, 0);

const Row = memo(function Row({ item }) {
  return <Cell.Text label={item.name}><Price of={item} /><br /></Cell.Text>;
});

export class Book extends ledger.Base {
  #pages = [];
  static KIND = 'book';
  onTurn = (page) => {
    this.render(page);
  };

  @cached
  get length() {
    return this.#pages.length;
  }

  async *read(
    from,
    to = PAGE_LINES,
  ) {
    function step(page) {
      const local = () => page;
      return format(local());
    }
    yield* new Reader(from, to).each(step);
  }
}

// An older way to write a class.
function Shelf(size) {
  this.grow = function (by) {
    size += by;
  };
}

Shelf.prototype.put = function put(book) {
  return this.grow(book.length);
};
Shelf.open = async () => import('./shelf.js');
exports.close = function (shelf) {};
module.exports.Crate = class { pack() {} };

const handlers = {
  onOpen() { opened = true; },
  onClose: () => fs.closeSync(opened),
};

export default class {
  run() {}
}

describe('sum', () => {
  // Nothing is zero.
  it('of nothing is 0', () => {
    expect(sum([])).toBe(0);
  });
});

async function* tick() { } function tock() { }
