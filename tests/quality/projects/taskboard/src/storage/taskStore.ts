export interface Task {
  id: string;
  title: string;
  done: boolean;
}

/** Where the tasks of boards are kept. */
export interface TaskStore {
  list(board: string): Promise<Task[]>;
  add(board: string, task: Pick<Task, "title" | "done">): Promise<Task>;
  remove(board: string, id: string): Promise<boolean>;
}
