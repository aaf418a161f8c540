import type { ServerResponse } from "node:http";
import { refusals } from "./answers.ts";
import type { ObjectStore, StoreEvent } from "./object-store.ts";
import { kinds } from "./routes.ts";
import type { Target } from "./routes.ts";
import { isSelected } from "./selectors.ts";

export interface Watches {
  /** Answers a request with `watch=true`. */
  serve(target: Target, query: URLSearchParams, response: ServerResponse): void;
  /** Ends all watches, as the server does from time to time. */
  endAll(): void;
  readonly count: () => number;
}

export interface WatchOptions {
  readonly store: ObjectStore;
  /** Called with each object that is sent. */
  readonly onSend: (kind: string, object: object) => void;
  /** Between two bookmarks; a minute at a real server. */
  readonly bookmarkMs: number;
}

/** Sends the changes after a version as they come, and bookmarks between them. */
export function serveWatches({ store, bookmarkMs, onSend }: WatchOptions): Watches {
  const open = new Set<ServerResponse>();
  return {
    serve: ({ resource }, query, response) => {
      const from = query.get("resourceVersion") ?? "";
      const missed = store.since(Number(from));
      response.writeHead(200, { "content-type": "application/json" });
      const send = (type: string, object: object) => {
        if (!response.writableEnded) response.write(`${JSON.stringify({ type, object })}\n`);
      };
      if (missed === null) {
        // A real server answers so, too: with 200, and the refusal as the one event.
        send("ERROR", refusals.expired(from).status);
        response.end();
        return;
      }
      const onChange = (event: StoreEvent) => {
        if (event.resource !== resource || !isSelected(event.object, query)) return;
        onSend(kinds[resource].kind, event.object);
        send(event.type, event.object);
      };
      for (const event of missed) onChange(event);
      const stop = store.onChange(onChange);
      const { version: apiVersion, kind } = kinds[resource];
      const wantsBookmarks = query.get("allowWatchBookmarks") === "true";
      const bookmarks = setInterval(() => {
        const metadata = { resourceVersion: String(store.version()) };
        if (wantsBookmarks) send("BOOKMARK", { apiVersion, kind, metadata });
      }, bookmarkMs);
      const seconds = Number(query.get("timeoutSeconds") ?? 1_800);
      const end = setTimeout(() => response.end(), seconds * 1_000);
      open.add(response);
      response.flushHeaders();
      response.once("close", () => {
        stop();
        clearInterval(bookmarks);
        clearTimeout(end);
        open.delete(response);
      });
    },
    endAll: () => {
      for (const response of open) response.end();
    },
    count: () => open.size,
  };
}
