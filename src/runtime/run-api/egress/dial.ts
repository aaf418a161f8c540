import { connect } from "node:net";
import type { OnReadOpts, Socket } from "node:net";

/** Begins to connect to an address. What is read goes to `onread`, if it is given, from the first `resume` on. */
export type Dial = (address: string, port: number, onread?: OnReadOpts) => Socket;

/** For an address that does not answer, in ms: there may be others. */
const connectMs = 10_000;
const keepAliveMs = 60_000;

/**
 * What a socket holds before it is held back: two chunks as they are read. With one, which is the default, each chunk
 * stops its source for a moment, and tunnels carry half as much.
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

/** Connects to the first of the addresses that takes it. Rejects with the last one's error, or when it is cut. */
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

/** Resolves at the event that says so; else the socket is destroyed. */
export function connected(
  socket: Socket,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  socket.once(event, () => resolve(socket));
  // For good: an error that comes between two owners of the socket must not end the process.
  socket.on("error", reject);
  socket.once("close", () => reject(new Error("the connection was closed")));
  return inTime(promise, socket, signal);
}

/** What a socket is awaited for, in time; else the socket is destroyed. */
export async function inTime<T>(
  promise: Promise<T>,
  socket: Socket,
  signal: AbortSignal,
): Promise<T> {
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
