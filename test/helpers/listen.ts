import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Lets a server listen at a port of this machine, a free one by default. Resolves to the port. */
export async function listen(server: Server, port = 0, host = "127.0.0.1"): Promise<number> {
  await once(server.listen(port, host), "listening");
  return (server.address() as AddressInfo).port;
}

/** Ends a server of HTTP with all its connections. */
export async function endServer(server: Server & { closeAllConnections(): void }): Promise<void> {
  const closed = once(server.close(), "close");
  server.closeAllConnections();
  await closed;
}
