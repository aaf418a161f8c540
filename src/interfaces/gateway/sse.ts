import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { takeUntil, type Observable } from "rxjs";
import type { LogLevel } from "../../../streams/vocabulary.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { StreamName } from "./metrics.ts";

/** The limits for one stream client. */
export interface StreamLimits {
  readonly heartbeatMs: number;
  /** How long a client may take for the first snapshot or backlog. */
  readonly firstWithinMs: number;
  /** Bytes that may wait for a client after that. */
  readonly maxWaitingBytes: number;
}

const defaultLimits: StreamLimits = {
  heartbeatMs: 15_000,
  firstWithinMs: 10_000,
  maxWaitingBytes: 64 * 1024,
};

/** How long an ended stream may take to close before its socket is destroyed. */
const closeMs = 1_000;

/** One event on the wire. `data` must hold no line break, which is true of any JSON. */
export function eventText(event: string, id: string, data: string): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
}

export type EventStreams = ReturnType<typeof createEventStreams>;

/** Keeps the open event streams of one server within the limits. */
export function createEventStreams(
  overrides: Partial<StreamLimits>,
  log: (level: LogLevel, message: string) => void,
  countClients: (stream: StreamName, change: 1 | -1) => void,
) {
  const limits = { ...defaultLimits, ...overrides };
  const open = new Set<() => void>();
  return {
    /**
     * Answers a request with Server-Sent Events. The first text of `events$` is the snapshot or backlog (any size, may
     * be empty), each later one an event. The stream ends with `events$`, with `ended$`, or with the connection.
     */
    serve: (
      request: FastifyRequest,
      reply: FastifyReply,
      events$: Observable<string>,
      ended$: Observable<unknown>,
    ): void => {
      const headers = streamHeaders(reply);
      if (request.method === "HEAD") {
        void reply.headers(headers).send();
        return;
      }
      reply.hijack();
      const { raw } = reply;
      // The client left while the route read something: its "close" event is over, so the stream would never end.
      if (raw.destroyed) return;
      raw.writeHead(200, headers);
      raw.write("retry: 2000\n\n");
      const client = createClient(raw, limits, (why) =>
        log(30, `dropped the stream client ${request.ip}: ${why}`),
      );
      const subscription = events$.pipe(takeUntil(ended$)).subscribe({
        next: client.send,
        complete: client.end,
        error: (error: unknown) => {
          log(50, `an event stream broke off: ${messageOf(error)}`);
          client.end();
        },
      });
      const end = (): void => {
        subscription.unsubscribe();
        client.end();
      };
      const { stream = "status" } = request.routeOptions.config;
      open.add(end);
      countClients(stream, 1);
      raw.once("close", () => {
        open.delete(end);
        countClients(stream, -1);
        end();
      });
    },
    /** Ends all of them, so that a server can close. */
    endAll: (): void => {
      for (const end of open) end();
    },
  };
}

function streamHeaders(reply: FastifyReply): Record<string, string> {
  const inherited = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  return {
    ...Object.fromEntries(inherited),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    // The connection ends with the stream: a client must not send its next request over it.
    connection: "close",
  };
}

/** Writes to one client and drops it when it doesn't read: Node would buffer without limit. */
function createClient(raw: ServerResponse, limits: StreamLimits, dropped: (why: string) => void) {
  const socket = raw.socket;
  let firstTimer: NodeJS.Timeout | undefined;
  let allowance = limits.maxWaitingBytes;
  let checking = false;

  const drop = (why: string): void => {
    if (raw.destroyed) return;
    dropped(why);
    raw.destroy();
  };
  // Within one turn all data is buffered; the kernel can accept it only afterwards.
  const checkSoon = (): void => {
    if (checking) return;
    checking = true;
    setImmediate(() => {
      checking = false;
      if (raw.writableLength > allowance) drop("it does not read");
    });
  };
  const sendFirst = (text: string): void => {
    allowance += Buffer.byteLength(text);
    firstTimer = setTimeout(
      () => drop(`it did not read the first events within ${limits.firstWithinMs} ms`),
      limits.firstWithinMs,
    ).unref();
    raw.write(text === "" ? ":\n\n" : text, () => {
      clearTimeout(firstTimer);
      allowance = limits.maxWaitingBytes;
    });
  };
  const write = (text: string): void => {
    if (raw.destroyed || raw.writableEnded) return;
    raw.write(text);
    checkSoon();
  };

  const heartbeat = setInterval(() => write(": heartbeat\n\n"), limits.heartbeatMs).unref();
  raw.on("error", () => raw.destroy());
  raw.once("close", () => {
    clearInterval(heartbeat);
    clearTimeout(firstTimer);
  });
  return {
    send: (text: string): void => (firstTimer === undefined ? sendFirst(text) : write(text)),
    end: (): void => {
      if (raw.destroyed || raw.writableEnded) return;
      raw.end(() => socket?.end());
      setTimeout(() => raw.destroy(), closeMs).unref();
    },
  };
}
