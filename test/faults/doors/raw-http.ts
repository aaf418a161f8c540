import { connect, type Socket } from "node:net";

/** A bare connection to a server: what is written is what the attacker writes. */
export interface RawConnection {
  readonly socket: Socket;
  /** All that came back so far. */
  readonly said: () => string;
  /** Resolves when the server, or the network, ended it; to how many ms after it began. */
  readonly closed: Promise<number>;
  readonly write: (text: string | Uint8Array) => void;
}

/** Connects to `http://<host>:<port>`; gone after the test. */
export function rawConnection(url: string): RawConnection {
  const { hostname, port } = new URL(url);
  const began = performance.now();
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  // Cut off is what the other side may do.
  socket.on("error", () => undefined);
  const closed = new Promise<number>((resolve) =>
    socket.once("close", () => resolve(performance.now() - began)),
  );
  const write = (data: string | Uint8Array) => {
    if (socket.writable)
      socket.write(typeof data === "string" ? Buffer.from(data, "latin1") : data);
  };
  return { socket, said: () => text, closed, write };
}

/** All that comes back for these bytes until the server hangs up, or for `ms`. */
export async function exchange(url: string, text: string, ms = 5_000): Promise<string> {
  const { socket, said, closed, write } = rawConnection(url);
  write(text);
  AbortSignal.timeout(ms).addEventListener("abort", () => socket.destroy());
  await closed;
  return said();
}

/** The statuses of the answers in what came back over one connection. */
export function statusesIn(said: string): number[] {
  return [...said.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => Number(status));
}
