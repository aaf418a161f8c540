import { Problem } from "../../foundation/errors.ts";
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { GatewayDeps } from "./deps.ts";

/** The received part of the body of one request. */
interface HeldBody {
  bytes: number;
  /** The body is complete: its request is being answered. */
  isComplete: boolean;
  readonly refuse: () => void;
}

/** How long between two warnings, in ms. */
const warnedEveryMs = 60_000;

/**
 * Holds at most `maxBytes` of bodies whose senders sent no key and whose signatures are not verified yet. Beyond it,
 * bodies are rejected with 503: first the oldest with at least half of the average, so that small deliveries pass
 * between many large ones, and the largest body is not rejected before other large ones.
 */
export function limitBodies(app: FastifyInstance, maxBytes: number, log: GatewayDeps["log"]): void {
  // A set keeps the order of arrival.
  const bodies = new Set<HeldBody>();
  let total = 0;
  let warnedAt = -Infinity;

  const release = (body: HeldBody): void => {
    if (bodies.delete(body)) total -= body.bytes;
  };
  const makeRoom = (): void => {
    while (total > maxBytes) {
      const body = oldestOfTheLarge(bodies);
      if (body === undefined) return;
      release(body);
      body.refuse();
      if (performance.now() - warnedAt < warnedEveryMs) continue;
      warnedAt = performance.now();
      log(40, `refused a body: unverified requests hold ${maxBytes} bytes, which is the limit`);
    }
  };
  const hold = (request: FastifyRequest, reply: FastifyReply, payload: Readable): void => {
    const take = (chunk: Buffer): void => {
      body.bytes += chunk.length;
      total += chunk.length;
      makeRoom();
    };
    const refuse = (): void => {
      payload.off("data", take);
      // The reader of the body answers with the error, and closes the connection.
      if (payload.listenerCount("error") > 0) payload.emit("error", tooMuch());
      else request.raw.destroy();
    };
    const body: HeldBody = { bytes: 0, isComplete: false, refuse };
    bodies.add(body);
    payload.on("data", take).once("end", () => (body.isComplete = true));
    reply.raw.once("close", () => release(body));
  };
  app.addHook("preParsing", (request, reply, payload, done) => {
    const declared = Number(request.headers["content-length"] ?? 0);
    // A larger body is rejected before it is read.
    const isRead = request.method === "POST" && declared <= request.routeOptions.bodyLimit;
    if (isRead && request.caller === null) hold(request, reply, payload);
    done(null, payload);
  });
}

/** The oldest large body that is still incomplete; undefined if all are complete. */
function oldestOfTheLarge(bodies: ReadonlySet<HeldBody>): HeldBody | undefined {
  const open = [...bodies].filter(({ isComplete }) => !isComplete);
  const average = open.reduce((sum, { bytes }) => sum + bytes, 0) / open.length;
  return open.find(({ bytes }) => bytes >= average / 2);
}

function tooMuch(): Problem {
  const headers = { "retry-after": "5", connection: "close" };
  return new Problem(
    "too_many_bytes",
    "Too many deliveries arrive at the same time; deliver this one again.",
    { headers },
  );
}
