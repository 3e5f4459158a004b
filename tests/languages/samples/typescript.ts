/** Keeps what users may do. */
import { Injectable, type Type } from '@angular/core';
import type { User } from './user';
import legacy = require('./legacy');

/** Who may do what. */
export type Rights = {
  [key: string]: boolean;
};
export type Role = 'admin' | 'guest' | Type<User>;

export enum Level { Low, High = 'high' }

/** Finds things.
 *
 * Implementations are stateless.
 */
export interface Store<Key, Value> extends Map<Key, Value>, legacy.Closable {
  readonly size: number;
  find(key: Key, options?: FindOptions): Promise<Value>;
}

export const LIMIT: number = 10;
declare const VERSION: string;

export const can = async (user: User, right: string): Promise<boolean> => {
  const rights: Rights = await load(user);
  return rights[right];
};

/** Reads a number. */
export function parse(text: string): number;
export function parse(text: Buffer): number;
export function parse(text: any): number {
  return Number(text as Role);
}

@Injectable({ providedIn: 'root' })
export class Guard<T extends User = User> extends Base<T> implements Store<string, T>, OnDestroy {
  @Input() name: string;
  private cache = new Map<string, T[]>();
  check = (user: T) => can(user, this.name);

  constructor(private readonly users: UserService) {
    super();
  }

  @HostListener('click')
  public async find(
    key: string,
  ): Promise<T | Nobody> {
    return this.users.get(key);
  }
}

abstract class Rule {
  abstract allows(user: User): boolean;
}

export namespace Rules.Common {
  export const ALL: Rule[] = [];
  export function add(rule: Rule) { ALL.push(rule); }
}

declare module 'legacy' {
  export function open(path: string): void;
}

declare function print(text: string): void;

describe('can', () => {
  it.each([1, 2])('is %s', () => {});
  it('refuses guests', async () => {
    expect(await can(guest, 'write')).toBe(false);
  });
});

export { can as may, Guard } from './guards';
