import { connect, isIP, type OnReadOpts, type Socket } from "node:net";
import { request } from "node:http";
import { connect as connectTls } from "node:tls";
import { proxyLogin } from "../../wire/http-proxy.ts";
import { bracketed } from "../../../foundation/contracts/deny-reasons.ts";
import type { Authority } from "./decide.ts";

/** Begins to connect to an address. Passes data to `onread`, if given, from the first `resume` on. */
export type Dial = (address: string, port: number, onread?: OnReadOpts) => Socket;

/** How long to wait for an address before the next is tried, in ms. */
const connectMs = 10_000;
const keepAliveMs = 60_000;

/**
 * How many bytes a socket buffers before backpressure: two chunks. With the default of one, each chunk pauses its
 * source for a moment, which halves the throughput of tunnels.
 */
export const tunnelBufferBytes = 131_072;

const tunnelOptions = {
  allowHalfOpen: true,
  highWaterMark: tunnelBufferBytes,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: keepAliveMs,
  autoSelectFamily: false,
};

export const dialDirect: Dial = (host, port, onread) =>
  onread === undefined
    ? connect({ ...tunnelOptions, host, port })
    : connect({ ...tunnelOptions, host, port, onread }).pause();

/** Connects to the first address that accepts. Rejects with the last address's error, or when `signal` aborts. */
export async function dialFirst(
  addresses: readonly string[],
  port: number,
  dial: Dial,
  signal: AbortSignal,
  onread?: OnReadOpts,
): Promise<Socket> {
  let problem: unknown = new Error("it has no address");
  for (const address of addresses) {
    signal.throwIfAborted();
    try {
      return await connected(dial(address, port, onread), "connect", signal);
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

/** Resolves when the event is emitted; otherwise destroys the socket and rejects. */
export function connected(
  socket: Socket,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  socket.once(event, () => resolve(socket));
  // Never removed: an error between two owners of the socket must not end the process.
  socket.on("error", reject);
  socket.once("close", () => reject(new Error("the connection was closed")));
  return inTime(promise, socket, signal);
}

/** Awaits a promise of a socket. Destroys the socket if the promise is late or rejects, or `signal` aborts. */
async function inTime<T>(promise: Promise<T>, socket: Socket, signal: AbortSignal): Promise<T> {
  const late = (): void => void socket.destroy(new Error(`no answer in ${connectMs / 1000} s`));
  const cut = (): void => void socket.destroy(new Error("it was cut"));
  const timer = setTimeout(late, connectMs);
  signal.addEventListener("abort", cut, { once: true });
  if (signal.aborted) cut();
  try {
    return await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cut);
  }
}

/** Connects to the operator's proxy. */
export function dialProxy(proxy: URL, signal: AbortSignal): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  const isTls = proxy.protocol === "https:";
  const port = Number(proxy.port === "" ? (isTls ? 443 : 80) : proxy.port);
  const plain = dialDirect(host, port);
  if (!isTls) return connected(plain, "connect", signal);
  plain.on("error", (error) => secure.destroy(error));
  const secure = connectTls({ socket: plain, host, servername: isIP(host) === 0 ? host : "" });
  return connected(secure, "secureConnect", signal);
}

/** Opens a tunnel through a proxy, which resolves the name. */
export async function dialThrough(
  proxy: URL,
  { host, port }: Authority,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await dialProxy(proxy, signal);
  const path = `${bracketed(host)}:${port}`;
  const login = proxyLogin(proxy);
  const headers = login === null ? { host: path } : { host: path, "proxy-authorization": login };
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const asked = request({ method: "CONNECT", path, headers, createConnection: () => socket });
  asked.once("connect", ({ statusCode = 0 }, _socket, head: Buffer) => {
    if (statusCode < 200 || statusCode > 299) {
      return reject(new Error(`the scheduler's own proxy answered ${statusCode}`));
    }
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  asked.on("error", reject);
  asked.end();
  return inTime(promise, socket, signal);
}
