import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { startHop, type Hop } from "./hop.ts";

/** The host's name, as its certificate has it. */
export const tunnelHost = "models.example.test";

/** A way from a client to the host. */
export interface TunnelWay {
  readonly connect: () => Promise<Socket>;
  /** The processes in between. */
  readonly hops: readonly Hop[];
}

export interface TunnelWays {
  readonly direct: TunnelWay;
  /** As many processes and the same kinds of sockets, which only pass bytes on. */
  readonly bare: TunnelWay;
  /** Through the bridges of two runs in turns, their sockets and the scheduler. */
  readonly through: TunnelWay;
}

/** Starts the host and all that is between it and its clients, each in a process of its own. */
export async function startTunnelWays(
  children: AsyncDisposableStack,
  folder: string,
): Promise<TunnelWays> {
  const program = (name: string, ...args: readonly string[]) => startHop(children, name, ...args);
  const host = await program("tunnel-host.ts");
  const port = String(host.said.port);

  const outer = await program("bare-proxy.ts", join(folder, "bare.sock"), port);
  const inner = await program("bare-proxy.ts", "0", String(outer.said.at));

  const scheduler = await program("egress-server.ts", port, tunnelHost, folder);
  const { socket, token, secondSocket, secondToken } = scheduler.said;
  const bridge = (path: unknown, key: unknown) =>
    program("bridge-server.ts", String(path), String(key), "http://127.0.0.1/v1");
  const bridges = [await bridge(socket, token), await bridge(secondSocket, secondToken)];
  let turn = 0;
  return {
    direct: { connect: () => connected(Number(port)), hops: [] },
    bare: { connect: () => connected(Number(inner.said.at)), hops: [inner, outer] },
    through: {
      connect: () => {
        const { said } = bridges[turn++ % bridges.length] ?? scheduler;
        return tunnel(String(said.proxyUrl));
      },
      hops: [...bridges, scheduler],
    },
  };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  await once(socket, "connect");
  return socket;
}

async function tunnel(proxyUrl: string): Promise<Socket> {
  const { port, username, password } = new URL(proxyUrl);
  const login = Buffer.from(`${username}:${password}`).toString("base64");
  const asked = request({
    host: "127.0.0.1",
    port,
    method: "CONNECT",
    path: `${tunnelHost}:443`,
    headers: { "proxy-authorization": `Basic ${login}` },
  });
  asked.end();
  const [answer, socket] = (await once(asked, "connect")) as [IncomingMessage, Socket];
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusMessage ?? ""}`);
  return socket;
}
