export interface Request {
  method: string;
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  params?: Record<string, string>;
}

export interface Response {
  status: number;
  body?: unknown;
}

export type Handler = (request: Request) => Response;

/** An answer that is no success; handlers throw it. */
export class Problem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Route {
  method: string;
  parts: string[];
  handler: Handler;
}

export class Router {
  private readonly routes: Route[] = [];

  add(method: string, path: string, handler: Handler): void {
    this.routes.push({ method, parts: path.split("/"), handler });
  }

  handle(request: Request): Response {
    for (const route of this.routes) {
      const params = matched(route, request);
      if (params !== null) {
        return answered(route.handler, { ...request, params });
      }
    }
    return { status: 404, body: { error: "no such place" } };
  }
}

function answered(handler: Handler, request: Request): Response {
  try {
    return handler(request);
  } catch (error) {
    if (error instanceof Problem) {
      return { status: error.status, body: { error: error.message } };
    }
    throw error;
  }
}

function matched(route: Route, request: Request): Record<string, string> | null {
  const parts = request.path.split("/");
  if (route.method !== request.method || parts.length !== route.parts.length) {
    return null;
  }
  const params: Record<string, string> = {};
  for (const [at, part] of route.parts.entries()) {
    if (part.startsWith(":")) {
      params[part.slice(1)] = decodeURIComponent(parts[at]);
    } else if (part !== parts[at]) {
      return null;
    }
  }
  return params;
}
