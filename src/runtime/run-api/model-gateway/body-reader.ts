import type { IncomingMessage } from "node:http";
import { JsonSize } from "../../../foundation/contracts/json-size.ts";
import { cutIfSilent } from "../cut-if-silent.ts";
import { createShares, TooManyWaiting } from "../shares.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { badRequest, memoryOf, RequestBody } from "./request-body.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  /** Objects, lists, keys, texts and numbers of one body. */
  readonly maxValues: number;
  /** Memory for the calls of all runs, and of one. */
  readonly totalBytes: number;
  readonly runBytes: number;
  /** How long a client may send nothing, and how long it may take for a body, in ms. */
  readonly silentMs: number;
  readonly timeoutMs: number;
}

const mebibyte = 1024 * 1024;
export const defaultBodyLimits: BodyLimits = {
  maxBytes: 32 * mebibyte,
  // A conversation of a million tokens has a quarter of it.
  maxValues: 200_000,
  totalBytes: 64 * mebibyte,
  runBytes: 48 * mebibyte,
  silentMs: 10_000,
  timeoutMs: 120_000,
};
/** A run has room for calls of usual sizes whatever others hold. */
const assured = 2 * mebibyte;
/** Calls of one run that wait for room, unread. */
const maxWaiting = 16;
/** Serializing recurses. */
const maxDepth = 1_000;

/**
 * Reads JSON bodies of any number of runs with bounded memory: one waits, unread, until there is room for it, also for
 * that of its call until the end.
 */
export function createBodyReader(limits: BodyLimits) {
  const { maxBytes, totalBytes: total, runBytes: perOwner } = limits;
  const room = createShares({ total, perOwner, assured, maxWaiting });
  /** Rejects with a GatewayProblem for a body that is none, and with the reason of `signal`. */
  return async (
    instanceId: string,
    request: IncomingMessage,
    signal: AbortSignal,
  ): Promise<RequestBody> => {
    const length = lengthOf(request);
    if (length > maxBytes) {
      throw badRequest(413, `the body is larger than ${maxBytes / mebibyte} MiB`);
    }
    const release = await room.acquire(instanceId, memoryOf(length), signal).catch(asBusy);
    try {
      return new RequestBody(await bytesOf(request, length, limits), release);
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** Only of a known length is it known what it takes. */
function lengthOf({ headers }: IncomingMessage): number {
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    throw badRequest(415, "the body must not be compressed");
  }
  const length = Number(headers["content-length"]);
  if (Number.isInteger(length)) return length;
  throw badRequest(411, "the body has no content-length");
}

async function bytesOf(
  request: IncomingMessage,
  length: number,
  { maxValues, silentMs, timeoutMs }: BodyLimits,
): Promise<Buffer> {
  cutIfSilent(request, silentMs);
  const late = setTimeout(() => request.destroy(), timeoutMs);
  request.once("close", () => clearTimeout(late)).once("end", () => clearTimeout(late));
  // Chunks of a byte would take hundreds of bytes each.
  const bytes = Buffer.allocUnsafeSlow(length);
  const size = new JsonSize();
  let read = 0;
  // An answer can still be sent after a body that is not read to its end.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of chunks) {
    read += chunk.copy(bytes, read);
    if (size.push(chunk, maxValues).values > maxValues) {
      throw badRequest(413, `the body has more than ${maxValues} values of JSON`);
    }
  }
  if (size.depth > maxDepth) throw badRequest(400, "the body nests too deep");
  return bytes;
}

function asBusy(error: unknown): never {
  if (!(error instanceof TooManyWaiting)) throw error;
  const message = `${maxWaiting} requests of this run wait for memory already`;
  throw new GatewayProblem({ status: 429, code: "rate_limited", message }, { isPassing: true });
}
