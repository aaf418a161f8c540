import { Agent, request } from "node:http";
import { connect, type TLSSocket } from "node:tls";
import { readAnswer, type Posted } from "../../wire/post-json.ts";
import { X509Certificate } from "node:crypto";
import type { Ticket } from "../../wire/remote-protocol.ts";
import { hostAndPortOf } from "../host-and-port.ts";

export interface DoorRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Secret: the run's ticket or token. */
  readonly bearer: string;
  readonly body?: { readonly type: string; readonly text: string };
  /** How long the whole response may take, in ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * One connection to the door, for one request after another, which all reach the same scheduler: the next one has
 * another connection.
 */
export async function openDoor(address: DoorAddress, signal: AbortSignal) {
  const socket = await dialDoor(address, signal);
  const agent = new OneSocketAgent(socket);
  return {
    isOpen: () => !socket.destroyed && socket.writable && socket.readable,
    /** Rejects if the connection breaks or no complete answer comes in time; the connection is then closed. */
    request: async (asked: DoorRequest): Promise<Posted> => {
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

export type DoorConnection = Awaited<ReturnType<typeof openDoor>>;

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
): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const sent = request({
      agent,
      method,
      path,
      signal: AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]),
      headers: { host, authorization: `Bearer ${bearer}`, ...headersOf(body) },
    });
    sent.once("error", reject);
    sent.once("response", (answer) => void readAnswer(answer).then(resolve, reject));
    sent.end(body?.text);
  });
}

function headersOf(body: DoorRequest["body"]): Record<string, string | number> {
  if (body === undefined) return {};
  return { "content-type": body.type, "content-length": Buffer.byteLength(body.text) };
}

/** Address of the scheduler's door, and its identity. */
export type DoorAddress = Pick<Ticket, "door" | "certificate" | "name">;

/** How long a connection and its handshake may take, in ms. */
const dialMs = 10_000;
/** Time between two probes of a silent connection by the system, in ms: a machine that disappeared sends no end. */
const keepAliveMs = 15_000;

/**
 * A connection to the scheduler. Resolves once the door has proved to own the pinned certificate; before that, no byte
 * of the run is sent. Rejects on a timeout, or when `signal` aborts.
 */
export function dialDoor(
  { door, certificate, name }: DoorAddress,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const pinned = new X509Certificate(certificate).raw;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(dialMs)]);
  return new Promise((resolve, reject) => {
    const socket = connect(optionsFor(door, name));
    const fail = (error: Error) => {
      limit.removeEventListener("abort", late);
      socket.destroy();
      reject(error);
    };
    const late = () => fail(new Error(`the door at ${door} did not answer in time`));
    limit.addEventListener("abort", late, { once: true });
    if (limit.aborted) late();
    socket.once("error", fail).once("close", () => fail(closed(door)));
    socket.once("secureConnect", () => {
      if (socket.getPeerX509Certificate()?.raw.equals(pinned) !== true) return fail(other(door));
      limit.removeEventListener("abort", late);
      socket.removeAllListeners("error").removeAllListeners("close");
      // Without a listener a break between two uses would end the process.
      socket.on("error", () => undefined);
      resolve(socket.setNoDelay(true).setKeepAlive(true, keepAliveMs));
    });
  });
}

function optionsFor(door: string, servername: string) {
  return {
    ...hostAndPortOf(door),
    servername,
    minVersion: "TLSv1.3" as const,
    allowHalfOpen: true,
    // The certificate itself is compared: by its dates and names, a run on a machine with a wrong clock would fail.
    rejectUnauthorized: false,
  };
}

function other(door: string): Error {
  return new Error(`the server at ${door} has another certificate than the scheduler's door`);
}

function closed(door: string): Error {
  return new Error(`the door at ${door} closed the connection`);
}
