import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { joinSockets } from "../../wire/join-sockets.ts";
import { dialDoor, type DoorAddress } from "./door-connection.ts";
import { createPauses } from "./lease.ts";
import type { TLSSocket } from "node:tls";

/** How long a connection may be silent before its relay is checked, in ms. */
const silentMs = 20_000;

/**
 * Destroys a silent connection if the door answers under its name, but no longer through this connection's relay. A
 * relay on a failed machine sends no end, and TCP retries unacknowledged bytes for a quarter of an hour. While the door
 * does not answer at all, the connection stays: the network may come back.
 */
export function destroyOnDeadRelay(
  connection: TLSSocket,
  address: DoorAddress,
  signal: AbortSignal,
  afterMs = silentMs,
): void {
  const { remoteAddress = "", remotePort = 0 } = connection;
  const own = { ...address, door: `[${remoteAddress}]:${remotePort}` };
  const check = async (): Promise<void> => {
    const isDead = !(await answers(own, signal)) && (await answers(address, signal));
    if (isDead) connection.destroy();
    // A timeout is emitted once.
    else connection.setTimeout(afterMs);
  };
  connection.setTimeout(afterMs).on("timeout", () => void check());
}

async function answers(address: DoorAddress, signal: AbortSignal): Promise<boolean> {
  try {
    (await dialDoor(address, signal)).destroy();
    return true;
  } catch {
    return false;
  }
}

const socketName = "channel.sock";
/** How long a connection waits for a scheduler that is away, in ms. */
const awayMs = 60_000;
const pauseMs = 1_000;

/**
 * Creates the socket by which the run reaches the scheduler as on its own machine: the bytes of each connection pass
 * through a separate connection to the door, and back. Rejects if `dir` can't have a socket.
 */
export async function openChannel(dir: string, address: DoorAddress) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, socketName);
  rmSync(path, { force: true });
  const closed = new AbortController();
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (connection) => {
    open.add(connection);
    connection.once("close", () => open.delete(connection));
    void pass(connection, address, closed.signal);
  });
  server.listen(path);
  await once(server, "listening");
  chmodSync(path, 0o600);
  // A failed accept fails that request, not the run.
  server.on("error", () => undefined);
  return {
    /** Absolute path of the socket. */
    path,
    [Symbol.dispose]: () => {
      closed.abort();
      server.close();
      for (const connection of open) connection.destroy();
    },
  };
}

export type Channel = Awaited<ReturnType<typeof openChannel>>;

async function pass(connection: Socket, address: DoorAddress, closed: AbortSignal): Promise<void> {
  const gone = new AbortController();
  const onGone = () => gone.abort();
  connection.on("error", onGone).once("close", onGone);
  const over = AbortSignal.any([gone.signal, closed]);
  const door = await dial(address, over);
  if (door === null || connection.destroyed) {
    door?.destroy();
    return void connection.destroy();
  }
  destroyOnDeadRelay(door, address, over);
  joinSockets(connection, door);
}

/** A client with an open connection has sent its request, and some may not be repeated: it waits. */
async function dial(address: DoorAddress, signal: AbortSignal) {
  const pauses = createPauses(pauseMs);
  const until = performance.now() + awayMs;
  while (!signal.aborted && performance.now() < until) {
    const door = await dialDoor(address, signal).catch(() => null);
    if (door !== null) return door;
    await pauses.next(signal);
  }
  return null;
}
