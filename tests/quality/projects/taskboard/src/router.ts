export type Handler = (request: Request, params: Record<string, string>) => Promise<Response>;
export type Middleware = (request: Request) => Promise<Response | undefined>;

interface Route {
  method: string;
  pattern: RegExp;
  names: string[];
  handler: Handler;
}

/** Matches paths such as /boards/:board/tasks/:id and runs middleware first. */
export class Router {
  private routes: Route[] = [];
  private middleware: Middleware[] = [];

  use(step: Middleware): void {
    this.middleware.push(step);
  }

  add(method: string, path: string, handler: Handler): void {
    const names: string[] = [];
    const source = path.replace(/:(\w+)/g, (_, name: string) => {
      names.push(name);
      return "([^/]+)";
    });
    this.routes.push({ method, pattern: new RegExp(`^${source}$`), names, handler });
  }

  async handle(request: Request): Promise<Response> {
    for (const step of this.middleware) {
      const early = await step(request);
      if (early) return early;
    }
    const path = new URL(request.url).pathname;
    for (const route of this.routes) {
      const match = route.method === request.method ? route.pattern.exec(path) : null;
      if (match) {
        const params = Object.fromEntries(route.names.map((name, at) => [name, match[at + 1]]));
        return route.handler(request, params);
      }
    }
    return new Response("not found", { status: 404 });
  }

  listen(port: number): void {
    console.log(`taskboard listens on ${port}`);
  }
}
