import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { maxDocumentBytes } from "../../foundation/contracts/body-limits.ts";

/** One request to a Unix socket. */
export interface Post {
  readonly socketPath: string;
  /** `/run/lock` */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal?: AbortSignal;
}

export interface Posted {
  readonly status: number;
  /** Undefined if the answer isn't JSON. */
  readonly body: unknown;
}

/**
 * Posts JSON over a new connection and resolves to the whole answer, without a timeout. Rejects when no server listens,
 * the connection breaks or the signal aborts. Imports only Node's modules, so that commands start fast.
 */
export function postJson({ socketPath, path, headers, body, signal }: Post): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const asked: ClientRequest = request({
      socketPath,
      path,
      method: "POST",
      agent: false,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
        ...headers,
      },
      ...(signal === undefined ? {} : { signal }),
    });
    asked.once("error", reject);
    asked.once("response", (answer) => void readAnswer(answer).then(resolve, reject));
    asked.end(text);
  });
}

/** Resolves to the whole answer. Rejects if it is too long or breaks off. */
export async function readAnswer(answer: IncomingMessage): Promise<Posted> {
  return { status: answer.statusCode ?? 0, body: jsonOf(await textOf(answer)) };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxDocumentBytes)
      throw new Error(`the answer is longer than ${maxDocumentBytes} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Undefined if the text isn't JSON. Its own, as a command of an agent loads few modules. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
