import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { maxDocumentBytes } from "../../../foundation/contracts/body-limits.ts";
import { dialDoor } from "./dial-door.ts";
import type { DoorAddress } from "./dial-door.ts";

export interface DoorRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Secret: the run's ticket or token. */
  readonly bearer: string;
  readonly body?: { readonly type: string; readonly text: string };
  /** For so long, in ms, its whole answer is waited for. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface DoorAnswer {
  readonly status: number;
  /** Undefined when the answer is no JSON. */
  readonly body: unknown;
}

/**
 * One connection to the door, for one request after another. All of them reach the same scheduler: the next one has
 * another connection.
 */
export interface DoorConnection extends Disposable {
  readonly isOpen: () => boolean;
  /** Rejects when the connection breaks or no whole answer comes in time; the connection is closed then. */
  request(request: DoorRequest): Promise<DoorAnswer>;
}

export async function openDoor(address: DoorAddress, signal: AbortSignal): Promise<DoorConnection> {
  const socket = await dialDoor(address, signal);
  const agent = new OneSocketAgent(socket);
  return {
    isOpen: () => !socket.destroyed && socket.writable && socket.readable,
    request: async (asked) => {
      try {
        return await exchange(asked, agent, address.name);
      } catch (error) {
        socket.destroy();
        throw error;
      }
    },
    [Symbol.dispose]: () => {
      agent.destroy();
      socket.destroy();
    },
  };
}

/** Knows one connection and makes no other. */
class OneSocketAgent extends Agent {
  #socket: TLSSocket | null;

  constructor(socket: TLSSocket) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#socket = socket;
  }

  override createConnection(): TLSSocket {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null || socket.destroyed) throw new Error("the connection is closed");
    return socket;
  }
}

function exchange(
  { method, path, bearer, body, timeoutMs, signal }: DoorRequest,
  agent: Agent,
  host: string,
): Promise<DoorAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({
      agent,
      method,
      path,
      signal: AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]),
      headers: { host, authorization: `Bearer ${bearer}`, ...headersOf(body) },
    });
    sent.once("error", reject);
    sent.once("response", (answer) => {
      textOf(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 0, body: jsonOf(text) }),
        reject,
      );
    });
    sent.end(body?.text);
  });
}

function headersOf(body: DoorRequest["body"]): Record<string, string | number> {
  if (body === undefined) return {};
  return { "content-type": body.type, "content-length": Buffer.byteLength(body.text) };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxDocumentBytes) throw new Error(`more than ${maxDocumentBytes} bytes`);
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
