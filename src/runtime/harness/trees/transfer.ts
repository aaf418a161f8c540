import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { z } from "zod";
import type { LeftOutFile, TreeFile, TreeLimits } from "../../../foundation/contracts/file-tree.ts";
import type { TreeAnswer } from "../../../foundation/contracts/tree-service.ts";
import { hasCode, Problem } from "../../../foundation/errors.ts";
import { fileLine, lastLines, packFrames, readFrames } from "../../wire/file-frames.ts";
import { readAnswer } from "../../wire/post-json.ts";
import { refusal } from "../../wire/protocol.ts";
import { repeatWhileAway, type RunSocket } from "../bridge/while-away.ts";
import { readFiles } from "./read-files.ts";
import { writeFiles, type TreeFolder } from "./write-files.ts";

/** How often a live scheduler may break off a transfer, which it may do for a reason that stays. */
const maxBreaks = 4;
/** The status of a scheduler whose disk is full, which waiting does not change. */
const noSpace = 507;

const answerSchema = z.object({ kept: z.number(), problems: z.array(z.string()) });

/** A run's connection to the scheduler for one transfer; `signal` ends it. */
export interface TransferContext {
  readonly runSocket: RunSocket;
  readonly signal: AbortSignal;
}

/** The files to send. */
export interface SentFiles {
  /** Absolute path of their folder. */
  readonly root: string;
  readonly files: readonly TreeFile[];
  readonly leftOut: readonly LeftOutFile[];
  /** How many others are left out. */
  readonly more: number;
}

/**
 * Receives a tree into its folder; resolves to the number of files. Begins again if the scheduler restarts. Rejects with
 * an error whose message is for a person.
 */
export function receiveFiles(
  context: TransferContext,
  name: string,
  folder: TreeFolder,
  limits: TreeLimits,
): Promise<number> {
  return transfer(context, (ask) => {
    const asked = ask("GET", name);
    asked.end();
    return { asked, read: (answer) => writeFiles(folder, readFrames(answer, limits)) };
  });
}

/** Sends the files as a tree; else as `receiveFiles`. Rejects with a `ChangedFile` if a file became shorter. */
export function sendFiles(
  context: TransferContext,
  name: string,
  { root, files, leftOut, more }: SentFiles,
): Promise<TreeAnswer> {
  const lines = files.reduce((sum, file) => sum + fileLine(file).length + file.bytes, 0);
  const length = lines + lastLines(leftOut, more).length;
  // A run must not end as succeeded without its files, however long the scheduler is down.
  return transfer({ ...context, pauses: Infinity }, (ask) => {
    const asked = ask("PUT", name, length);
    const frames = Readable.from(packFrames(readFiles(root, files), () => leftOut, more));
    // Not `pipeline`, which ends a request without the error of the files.
    frames.once("error", (error) => asked.destroy(error)).pipe(asked);
    asked.once("close", () => frames.destroy());
    return { asked, read: async (answer) => answerSchema.parse((await readAnswer(answer)).body) };
  });
}

type Ask = (method: string, tree: string, length?: number) => ClientRequest;
interface Attempt<T> {
  readonly asked: ClientRequest;
  /** Reads an answer of status 200. */
  readonly read: (answer: IncomingMessage) => Promise<T>;
}

/** Makes attempts while the scheduler is away, or broke off a few times. */
async function transfer<T>(
  { runSocket, signal, pauses }: TransferContext & { readonly pauses?: number },
  begin: (ask: Ask) => Attempt<T>,
): Promise<T> {
  const ask: Ask = (method, tree, length) =>
    request({
      socketPath: runSocket.socket,
      path: `/files/${encodeURIComponent(tree)}`,
      method,
      agent: false,
      signal,
      headers: {
        authorization: `Bearer ${runSocket.token}`,
        ...(length !== undefined && { "content-length": length }),
      },
    });
  let breaks = 0;
  const attempt = async (): Promise<{ readonly done: T } | { readonly error: unknown } | null> => {
    const { asked, read } = begin(ask);
    const connected = new AbortController();
    asked.once("socket", (socket) => socket.once("connect", () => connected.abort()));
    try {
      const answer = await answerOf(asked);
      const { statusCode = 0 } = answer;
      if (statusCode === 200) return { done: await read(answer) };
      const { body } = await readAnswer(answer);
      return isAway(statusCode) ? null : { error: refusedAs(body, statusCode) };
    } catch (error) {
      if (!connected.signal.aborted) {
        // It was the scheduler's end that broke off the transfers before.
        breaks = 0;
        throw error;
      }
      return isBroken(error) && ++breaks < maxBreaks ? null : { error };
    } finally {
      asked.destroy();
    }
  };
  const end = await repeatWhileAway(runSocket, signal, attempt, pauses);
  if (end === null || signal.aborted) throw refusal("unavailable", "there was no time left");
  if ("error" in end) throw end.error;
  return end.done;
}

function answerOf(asked: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asked.once("response", resolve).on("error", reject);
  });
}

/** Whether the scheduler is starting or stopping. */
function isAway(status: number): boolean {
  return status >= 500 && status !== noSpace;
}

/** The scheduler ended, or broke off an answer. */
function isBroken(error: unknown): boolean {
  return hasCode(error, "ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE");
}

function refusedAs(body: unknown, status: number): Problem {
  const { detail } = (body ?? {}) as { readonly detail?: unknown };
  return new Problem("refused", typeof detail === "string" ? detail : `status ${status}`);
}
