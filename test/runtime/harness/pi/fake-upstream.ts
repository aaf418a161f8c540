import type { ServerResponse } from "node:http";
import { fakeProvider } from "../fake-provider.ts";
import type { Action } from "./answer-table.ts";
import { wireFormatOf } from "./wires/wire-format-of.ts";

/** The requests of one model. */
export interface Route {
  readonly baseUrl: string;
  /** The bodies of its requests. */
  readonly requests: readonly string[];
}

interface PlannedRoute {
  readonly actions: readonly Action[];
  readonly requests: string[];
}

/** One HTTP server for many models, each with a base URL of its own; it speaks the wire format that it is asked in. */
export async function startFakeUpstream() {
  const routes: PlannedRoute[] = [];
  const serve = async (path: string, body: string, response: ServerResponse) => {
    const route = routes[Number(/^\/(\d+)\//.exec(path)?.[1])];
    if (route === undefined) return void response.writeHead(500).end("no such route");
    const { actions, requests } = route;
    requests.push(body);
    const action = actions[Math.min(requests.length, actions.length) - 1];
    if (action !== undefined) await perform(action, path, response);
  };
  const provider = await fakeProvider(({ path, body }, response) => {
    // A connection that was used before is retried by the gateway itself, which knows that idle ones are cut.
    response.shouldKeepAlive = false;
    // The client may be gone.
    serve(path, JSON.stringify(body), response).catch(() => response.destroy());
  });
  const { origin } = new URL(provider.baseUrl);
  return {
    /** A base URL of its own that answers with these actions, one after the other, then with the last. */
    route: (actions: readonly Action[]): Route => {
      const requests: string[] = [];
      const index = routes.push({ actions, requests }) - 1;
      return { baseUrl: `${origin}/${index}/v1`, requests };
    },
    close: () => provider.close(),
  };
}

async function perform(action: Action, path: string, response: ServerResponse): Promise<void> {
  const format = wireFormatOf(path);
  if (typeof action === "object" && "status" in action) {
    return void response.writeHead(action.status, action.headers).end(action.body);
  }
  if (action === "hang up before the first byte") return void response.destroy();
  if (action === "say nothing") return;
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (typeof action === "object") {
    return void response.end(format.stream(action.reply, action.usage));
  }
  await new Promise<unknown>((resolve) => response.write(format.begin, resolve));
  if (action === "hang up in the middle") response.destroy();
  if (action === "send garbage") response.end(format.garbage);
  if (action === "send an error event") response.end(format.errorEvent);
}
