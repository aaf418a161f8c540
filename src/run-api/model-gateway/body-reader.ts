import type { IncomingMessage } from "node:http";
import { GatewayProblem } from "./gateway-problem.ts";
import { isObject } from "./json.ts";
import type { Json } from "./json.ts";
import { createSlots } from "../slots.ts";

/** A request's body. Disposing it, once or more often, frees it: the next large one may then be read. */
export class RequestBody implements Disposable {
  /** Empty after the disposal. */
  json: Json;
  /** As the client sent it. */
  readonly bytes: number;
  readonly #slot: Disposable;

  constructor(json: Json, bytes: number, slot: Disposable) {
    this.json = json;
    this.bytes = bytes;
    this.#slot = slot;
  }

  [Symbol.dispose](): void {
    this.json = {};
    this.#slot[Symbol.dispose]();
  }
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** Bodies beyond this are large. */
  readonly largeBytes: number;
  /** Large ones that are held at once, of all runs. */
  readonly maxLarge: number;
  /** How long a client may take to send one, in ms. */
  readonly timeoutMs: number;
}

const mebibyte = 1024 * 1024;
export const defaultBodyLimits: BodyLimits = {
  maxBytes: 32 * mebibyte,
  largeBytes: mebibyte,
  maxLarge: 8,
  timeoutMs: 120_000,
};

/** Reads JSON bodies of any number of requests with bounded memory: a large one waits, unread, until there is room. */
export function createBodyReader(limits: BodyLimits) {
  const slots = createSlots(limits.maxLarge);
  /** Rejects with a GatewayProblem for a body that is none, and with the reason of `signal`. */
  return async (request: IncomingMessage, signal: AbortSignal): Promise<RequestBody> => {
    using held = new DisposableStack();
    if (Number(request.headers["content-length"] ?? 0) > limits.maxBytes) throw tooLarge(limits);
    if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
      throw problem(415, "the body must not be compressed");
    }
    let timer = setTimeout(() => request.destroy(), limits.timeoutMs);
    held.defer(() => clearTimeout(timer));
    const chunks: Buffer[] = [];
    let bytes = 0;
    const slot = held.use(new DisposableStack());
    let isLarge = false;
    // An answer can still be sent after a body that is not read to its end.
    for await (const chunk of request.iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limits.maxBytes) throw tooLarge(limits);
      chunks.push(chunk);
      if (bytes > limits.largeBytes && !isLarge) {
        isLarge = true;
        // Its client can't send while it waits.
        clearTimeout(timer);
        slot.defer(await slots.acquire(signal));
        timer = setTimeout(() => request.destroy(), limits.timeoutMs);
      }
    }
    return new RequestBody(parsed(Buffer.concat(chunks, bytes)), bytes, slot.move());
  };
}

function parsed(body: Buffer): Json {
  try {
    const json: unknown = JSON.parse(body.toString("utf8"));
    if (isObject(json)) return json;
  } catch {
    // A parser's own words would quote the body.
  }
  throw problem(400, "the body is not a JSON object");
}

function tooLarge({ maxBytes }: BodyLimits): GatewayProblem {
  return problem(413, `the body is larger than ${maxBytes / mebibyte} MiB`);
}

function problem(status: number, message: string): GatewayProblem {
  return new GatewayProblem({ status, code: "bad_request", message });
}
