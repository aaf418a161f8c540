import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { messageOf } from "../../foundation/errors.ts";
import { hostAndPortOf } from "./host-and-port.ts";
import { joinSockets } from "../wire/join-sockets.ts";

/** Limit of connections of all runs together. */
const maxConnections = 10_000;
/** Connections of one address, which is one run: as many as the scheduler accepts from a run. */
const maxPerAddress = 320;
const dialMs = 10_000;
/** Time between two probes of a silent connection by the system, in ms. */
const keepAliveMs = 60_000;

/**
 * Passes bytes between runs in a closed network and the scheduler's door at `address`: it listens on the door's port, and
 * each connection has one of its own to the door. All bytes are encrypted end to end. Resolves to the exit code
 * once `asked` aborts.
 */
export async function doorRelay(
  address: string,
  asked: AbortSignal,
  err: (text: string) => void,
): Promise<number> {
  const { port } = hostAndPortOf(address);
  const server = relayServer(address);
  server.listen(port);
  try {
    await once(server, "listening");
  } catch (error) {
    err(`al _door-relay: it cannot listen on port ${port}: ${messageOf(error)}\n`);
    return 1;
  }
  server.on("error", ({ message }) => err(`al _door-relay: ${message}\n`));
  if (!asked.aborted) await once(asked, "abort");
  return 0;
}

/** The relay as a server that does not listen yet. */
export function relayServer(address: string, limits = { maxConnections, maxPerAddress }): Server {
  const door = hostAndPortOf(address);
  const perAddress = new Map<string, number>();
  const options = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true };
  const server = createServer(options, (connection) => {
    const from = connection.remoteAddress ?? "";
    const count = (perAddress.get(from) ?? 0) + 1;
    if (count > limits.maxPerAddress) return void connection.destroy();
    perAddress.set(from, count);
    connection.once("close", () => {
      const left = (perAddress.get(from) ?? 1) - 1;
      if (left === 0) perAddress.delete(from);
      else perAddress.set(from, left);
    });
    pass(connection, door);
  });
  server.maxConnections = limits.maxConnections;
  return server;
}

function pass(connection: Socket, door: { host: string; port: number }): void {
  const upstream = connect({ ...door, allowHalfOpen: true, noDelay: true });
  const late = setTimeout(() => upstream.destroy(), dialMs);
  for (const side of [connection, upstream]) side.setKeepAlive(true, keepAliveMs);
  const leave = () => upstream.destroy();
  const refuse = () => connection.destroy();
  connection.on("error", leave).once("close", leave);
  upstream.on("error", refuse).once("close", () => clearTimeout(late));
  upstream.once("close", refuse);
  upstream.once("connect", () => {
    clearTimeout(late);
    connection.off("close", leave);
    upstream.off("close", refuse);
    joinSockets(connection, upstream);
  });
}
