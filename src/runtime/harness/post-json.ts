import { request } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
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
  /** Undefined when the answer is no JSON. */
  readonly body: unknown;
}

/**
 * Posts JSON over a connection of its own and resolves to the whole answer, however long that takes. Rejects when
 * no server listens, the connection breaks or the signal aborts. Loads nothing but Node's own, as commands use it.
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
    asked.once("response", (answer) => {
      textOf(answer).then(
        (given) => resolve({ status: answer.statusCode ?? 0, body: jsonOf(given) }),
        reject,
      );
    });
    asked.end(text);
  });
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

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
