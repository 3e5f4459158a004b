import { Router } from "../router.js";
import { Task, TaskStore } from "../storage/taskStore.js";

const MAX_TITLE = 120;

export class InvalidTask extends Error {}

/** Check what a client sent before it is kept. */
export function parseTask(body: unknown): Pick<Task, "title" | "done"> {
  const { title, done = false } = (body ?? {}) as Partial<Task>;
  if (typeof title !== "string" || !title.trim()) throw new InvalidTask("a task needs a title");
  if (title.length > MAX_TITLE) throw new InvalidTask(`a title has at most ${MAX_TITLE} characters`);
  return { title: title.trim(), done: Boolean(done) };
}

export function createRoutes(router: Router, store: TaskStore): void {
  router.add("GET", "/boards/:board/tasks", async (_, { board }) => Response.json(await store.list(board)));
  router.add("POST", "/boards/:board/tasks", async (request, { board }) => {
    try {
      const task = await store.add(board, parseTask(await request.json()));
      return Response.json(task, { status: 201 });
    } catch (error) {
      if (error instanceof InvalidTask) return Response.json({ error: error.message }, { status: 422 });
      throw error;
    }
  });
  router.add("DELETE", "/boards/:board/tasks/:id", async (_, { board, id }) => {
    const removed = await store.remove(board, id);
    return new Response(null, { status: removed ? 204 : 404 });
  });
}
