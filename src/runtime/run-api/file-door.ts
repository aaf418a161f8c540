import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { TreeEntries, TreeLimits, TreeUpload } from "../../foundation/contracts/file-tree.ts";
import type { TreeAnswer } from "../../foundation/contracts/tree-service.ts";
import { hasCode, messageOf, type Problem } from "../../foundation/errors.ts";
import { problemText } from "../../foundation/send-problem.ts";
import { maxLineBytes, packFrames, readFrames } from "../wire/file-frames.ts";
import { isRefusal, refusal } from "../wire/protocol.ts";
import { hangUpSignal } from "./model-gateway/read-on.ts";
import { createShares } from "./shares.ts";

/** The trees of live runs, by instance. Both reject with a Problem if the run has no such tree. */
interface ServedTrees {
  /** Null for an empty tree. */
  get(instanceId: string, name: string): Promise<TreeEntries | null>;
  /** `entriesWithin` begins to read the upload. */
  put(
    instanceId: string,
    name: string,
    entriesWithin: (limits: TreeLimits) => TreeUpload,
  ): Promise<TreeAnswer>;
}

export interface FileDoorLimits {
  /** Trees that are in transit at once: of all runs together, and of one. */
  readonly total: number;
  readonly perRun: number;
  /** How long a run may pause while it sends or receives, in ms. */
  readonly silentMs: number;
  /** How long the transfer of a tree may take, in ms. */
  readonly totalMs: number;
}

const failure = refusal("unavailable", "The scheduler failed to do this; its log has the reason.");
/** Errors of a transfer that the run broke off. */
const cutCodes = ["ABORT_ERR", "ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"];
/** The longest upload that is read to its end after it was refused. */
const drainedBytes = 64 * 1024 * 1024;

export const fileDoorLimits: FileDoorLimits = {
  total: 8,
  perRun: 2,
  silentMs: 10_000,
  totalMs: 15 * 60_000,
};

/** A run's transfer of one tree. */
interface Transfer {
  readonly instanceId: string;
  readonly tree: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the run hangs up, pauses for too long or takes too long, and when the scheduler stops. */
  readonly cut: AbortController;
}

/**
 * Passes trees of files between runs and the services of `trees`, as a stream of frames with backpressure in both
 * directions. `onProblem` gets failures of the scheduler itself.
 */
export function createFileDoor(
  trees: ServedTrees,
  onProblem: (message: string) => void,
  limits: FileDoorLimits = fileDoorLimits,
) {
  const { total, perRun: perOwner, silentMs, totalMs } = limits;
  /** Controllers of the open transfers: `AbortSignal.any` would keep each of them for ever. */
  const cuts = new Set<AbortController>();
  const open = new Set<Promise<void>>();
  let isClosing = false;
  // A run that uses up its share, or keeps transfers open, delays no other run: each may have one at any time.
  const shares = createShares({
    total,
    perOwner,
    assured: 1,
    maxWaiting: 4 * perOwner,
    tooMany: () => refusal("too_many_requests", "Too many trees of this run are in transit."),
  });

  const receive = async ({ instanceId, tree, request, response, cut }: Transfer) => {
    const answer = await trees.put(instanceId, tree, (treeLimits) => {
      assertLength(request, treeLimits);
      return readFrames(bytesOf(request, cut, silentMs), treeLimits);
    });
    const body = JSON.stringify(answer);
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  };
  const send = async ({ instanceId, tree, response, cut }: Transfer) => {
    const entries = await trees.get(instanceId, tree);
    response.writeHead(200, { "content-type": "application/octet-stream" });
    const stopWatch = cutIfUnread(response, cut, silentMs);
    const frames = Readable.from(packFrames(entries ?? []), { objectMode: false });
    await pipeline(frames, response, { signal: cut.signal }).finally(stopWatch);
  };
  const handle = async (transfer: Transfer): Promise<void> => {
    const { instanceId, request, cut } = transfer;
    const isUpload = request.method === "PUT";
    if (!isUpload && request.method !== "GET")
      throw refusal("malformed", "Trees have GET and PUT.");
    const release = await shares.acquire(instanceId, 1, cut.signal);
    const late = setTimeout(
      () => cut.abort(refusal("malformed", "The tree takes too long.")),
      totalMs,
    );
    try {
      await (isUpload ? receive(transfer) : send(transfer));
    } finally {
      clearTimeout(late);
      release();
    }
  };
  const handleOne = async (
    instanceId: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const cut = new AbortController();
    const gone = hangUpSignal(response);
    gone.addEventListener("abort", () => cut.abort(gone.reason), { once: true });
    cuts.add(cut);
    try {
      const tree = treeOf(request.url ?? "");
      await handle({ instanceId, tree, request, response, cut });
    } catch (error) {
      const problem = isRefusal(error) ? error : failure;
      if (problem === failure && error !== cut.signal.reason && !hasCode(error, ...cutCodes)) {
        onProblem(`${instanceId}: ${request.url ?? ""}: ${messageOf(error)}`);
      }
      if (isClosing || response.headersSent) response.destroy();
      else await refuse(request, response, problem, silentMs);
    } finally {
      cuts.delete(cut);
    }
  };

  return {
    /** Answers `GET` and `PUT /files/<tree>` of an authenticated run. Never rejects. */
    handle: (instanceId: string, request: IncomingMessage, response: ServerResponse) => {
      const handled = handleOne(instanceId, request, response).finally(() => open.delete(handled));
      open.add(handled);
      return handled;
    },
    /** Cuts open transfers; resolves when all are settled. */
    close: async () => {
      isClosing = true;
      for (const cut of cuts) cut.abort(refusal("unavailable", "The scheduler is stopping."));
      await Promise.allSettled(open);
    },
  };
}

export type FileDoor = ReturnType<typeof createFileDoor>;

function treeOf(url: string): string {
  try {
    return decodeURIComponent(url.slice("/files/".length));
  } catch {
    throw refusal("malformed", "The name of the tree is not valid.");
  }
}

/** Refuses, unread, an upload that can't be within its limits. */
function assertLength({ headers }: IncomingMessage, { bytes, entries }: TreeLimits): void {
  const most = bytes + (entries + 1) * maxLineBytes;
  if (Number(headers["content-length"] ?? 0) > most) {
    throw refusal("malformed", `The tree has more than ${bytes} bytes.`);
  }
}

/** The body of an upload as it is read; cut if the run pauses while its next bytes are awaited. */
async function* bytesOf(
  request: IncomingMessage,
  cut: AbortController,
  silentMs: number,
): AsyncGenerator<Buffer> {
  // An answer must still be possible after the reader has stopped.
  const chunks = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  const aborted = rejection(cut.signal);
  const onSilent = () => cut.abort(refusal("malformed", "The run sends nothing."));
  try {
    for (;;) {
      const silent = setTimeout(onSilent, silentMs);
      const next = await Promise.race([chunks.next(), aborted]).finally(() => clearTimeout(silent));
      if (next.done === true) return;
      yield next.value as Buffer;
    }
  } finally {
    // Not awaited: a piece that was awaited may never come.
    void chunks.return?.();
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  // It may be that nothing awaits it.
  promise.catch(() => undefined);
  const abort = (): void => reject(signal.reason as Error);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return promise;
}

/** Cuts a download whose client reads nothing although bytes wait for it, until the returned function is called. */
function cutIfUnread(response: ServerResponse, cut: AbortController, silentMs: number): () => void {
  const sent = (): number => response.socket?.bytesWritten ?? 0;
  let seen = -1;
  const timer = setInterval(() => {
    const now = response.writableNeedDrain ? sent() : -1;
    if (now !== -1 && now === seen) cut.abort(new Error("the run reads nothing"));
    seen = now;
  }, silentMs);
  return () => clearInterval(timer);
}

/** Refuses a transfer. Of a small upload the rest is read first: few clients read an answer before they have sent it all. */
async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  silentMs: number,
): Promise<void> {
  request.resume();
  if (Number(request.headers["content-length"] ?? 0) <= drainedBytes) {
    const ended = request.complete || request.destroyed ? null : once(request, "close");
    // Rejects if the run hangs up.
    await Promise.race([ended, wait(silentMs, undefined, { ref: false })]).catch(() => undefined);
  }
  response.shouldKeepAlive = request.complete;
  const { status, headers } = problem;
  response.writeHead(status, { ...headers, "content-type": "application/problem+json" });
  response.end(problemText(problem).body);
}
