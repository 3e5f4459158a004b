import { createRoutes } from "./routes/tasks.js";
import { requireToken } from "./auth/guard.js";
import { JsonTaskStore } from "./storage/jsonStore.js";
import { Router } from "./router.js";

export interface ServerOptions {
  port: number;
  dataFile: string;
}

/** Build the router with all routes behind the token check. */
export function buildServer(options: ServerOptions): Router {
  const store = new JsonTaskStore(options.dataFile);
  const router = new Router();
  router.use(requireToken);
  createRoutes(router, store);
  return router;
}

if (process.argv[1]?.endsWith("server.js")) {
  const port = Number(process.env.PORT ?? 3000);
  buildServer({ port, dataFile: "tasks.json" }).listen(port);
}
