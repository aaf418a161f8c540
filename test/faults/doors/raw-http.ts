import { connect } from "node:net";

/** A bare connection to `http://<host>:<port>`: what is written is what the attacker writes. It is gone after the test. */
export function rawConnection(url: string) {
  const { hostname, port } = new URL(url);
  const began = performance.now();
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  // Cut off is what the other side may do.
  socket.on("error", () => undefined);
  /** Resolves when the server, or the network, ended it; to how many ms after it began. */
  const closed = new Promise<number>((resolve) =>
    socket.once("close", () => resolve(performance.now() - began)),
  );
  const write = (data: string | Uint8Array) => {
    if (socket.writable)
      socket.write(typeof data === "string" ? Buffer.from(data, "latin1") : data);
  };
  /** All that came back so far. */
  const said = () => text;
  return { socket, said, closed, write };
}

export type RawConnection = ReturnType<typeof rawConnection>;

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
