import type { IncomingMessage } from "node:http";
import { JsonSize } from "../../../foundation/contracts/json-size.ts";
import { cutIfSilent } from "../http-proxy.ts";
import { createShares, TooManyWaiting } from "../shares.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import type { GatewayLimits } from "./limits.ts";
import { badRequest, memoryOf, RequestBody } from "./request-body.ts";

const mebibyte = 1024 * 1024;
/** Memory that each run can use regardless of other runs, in bytes; enough for calls of usual size. */
const assured = 2 * mebibyte;
/** Calls of one run that wait for memory before their bodies are read. */
const maxWaiting = 16;
/** Serializing recurses, so the depth is limited. */
const maxDepth = 1_000;

/**
 * Reads JSON bodies of any number of runs with bounded memory: a body is not read until the memory for it and its whole
 * call is reserved.
 */
export function createBodyReader(limits: GatewayLimits) {
  const { maxBytes, totalBytes: total, runBytes: perOwner } = limits;
  const room = createShares({ total, perOwner, assured, maxWaiting });
  /** Rejects with a GatewayProblem for an invalid body, and with the reason of `signal`. */
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

/** Memory is reserved by the announced length, so compressed and chunked bodies are rejected. */
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
  { maxValues, silentMs, timeoutMs }: GatewayLimits,
): Promise<Buffer> {
  cutIfSilent(request, silentMs);
  const late = setTimeout(() => request.destroy(), timeoutMs);
  request.once("close", () => clearTimeout(late)).once("end", () => clearTimeout(late));
  // Copied into one buffer: stored one-byte chunks would take hundreds of bytes each.
  const bytes = Buffer.allocUnsafeSlow(length);
  const size = new JsonSize();
  let read = 0;
  // An answer can still be sent after a partly read body.
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
  throw new GatewayProblem(429, "rate_limited", message, { isPassing: true });
}
