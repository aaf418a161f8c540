import { join } from "node:path";
import { startHop, type Hop } from "./hop.ts";

/** A way from a client to the provider. */
export interface Way {
  readonly url: string;
  readonly key: string;
  /** The processes in between. */
  readonly hops: readonly Hop[];
}

export interface Ways {
  readonly direct: Way;
  /** As many processes and the same kinds of sockets, which only pass bytes on. */
  readonly bare: Way;
  /** Through the bridge of a run, its socket and the model gateway. */
  readonly through: Way;
}

/** Starts the provider and all that is between it and its clients, each in a process of its own. */
export async function startWays(children: AsyncDisposableStack, folder: string): Promise<Ways> {
  const program = (name: string, ...args: readonly string[]) => startHop(children, name, ...args);
  const provider = await program("stream-provider.ts");
  const { port } = provider.said;
  const base = `http://127.0.0.1:${port}/v1`;
  const path = "/chat/completions";

  const outer = await program("bare-proxy.ts", join(folder, "bare.sock"), String(port));
  const inner = await program("bare-proxy.ts", "0", String(outer.said.at));
  const scheduler = await program("gateway-server.ts", `http://127.0.0.1:${port}`, folder);
  const { socket, token } = scheduler.said;
  const bridge = await program("bridge-server.ts", String(socket), String(token), base);
  return {
    direct: { url: base + path, key: "", hops: [] },
    bare: { url: `http://127.0.0.1:${inner.said.at}/v1${path}`, key: "", hops: [inner, outer] },
    through: {
      url: `${bridge.said.baseUrl}${path}`,
      key: String(bridge.said.key),
      hops: [bridge, scheduler],
    },
  };
}
