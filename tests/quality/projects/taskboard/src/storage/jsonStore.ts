import { readFile, rename, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { Task, TaskStore } from "./taskStore.js";

type Boards = Record<string, Task[]>;

/** Keeps all boards in one JSON file; writes are queued so that two of them never overlap. */
export class JsonTaskStore implements TaskStore {
  private pending: Promise<unknown> = Promise.resolve();

  constructor(private readonly file: string) {}

  async list(board: string): Promise<Task[]> {
    return (await this.load())[board] ?? [];
  }

  add(board: string, task: Pick<Task, "title" | "done">): Promise<Task> {
    return this.enqueue(async (boards) => {
      const kept = { id: randomUUID(), ...task };
      (boards[board] ??= []).push(kept);
      return kept;
    });
  }

  remove(board: string, id: string): Promise<boolean> {
    return this.enqueue(async (boards) => {
      const before = boards[board] ?? [];
      boards[board] = before.filter((task) => task.id !== id);
      return boards[board].length < before.length;
    });
  }

  private enqueue<T>(change: (boards: Boards) => Promise<T>): Promise<T> {
    const run = this.pending.then(async () => {
      const boards = await this.load();
      const result = await change(boards);
      await this.save(boards);
      return result;
    });
    this.pending = run.catch(() => undefined);
    return run;
  }

  private async load(): Promise<Boards> {
    try {
      return JSON.parse(await readFile(this.file, "utf8"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error;
    }
  }

  /** Write beside the file and rename, so that a crash leaves the last complete state. */
  private async save(boards: Boards): Promise<void> {
    await writeFile(`${this.file}.new`, JSON.stringify(boards));
    await rename(`${this.file}.new`, this.file);
  }
}
