import { Agent, request } from "node:http";
import type { ClientRequest } from "node:http";
import { isIP } from "node:net";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import { connected } from "../dial.ts";

export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values by turns. */
  readonly headers: readonly string[];
}

/** The connection to the host behind one of a run's tunnels: used again for the next request, as the run's own is. */
export class Upstream implements Disposable {
  readonly #agent: TlsAgent;
  readonly #over = new AbortController();

  constructor(host: string, dial: () => Promise<Socket>) {
    this.#agent = new TlsAgent(() => dialTls(host, dial, this.#over.signal));
  }

  begin({ method, path, headers }: UpstreamRequest): ClientRequest {
    return request({ agent: this.#agent, method, path, headers, setHost: false });
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#agent.destroy();
  }
}

class TlsAgent extends Agent {
  readonly #dial: () => Promise<Duplex>;

  constructor(dial: () => Promise<Duplex>) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#dial = dial;
  }

  override createConnection(
    _options: unknown,
    callback: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#dial().then(
      (socket) => callback(null, socket),
      (error: unknown) => (callback as (error: unknown) => void)(error),
    );
  }
}

/**
 * Its certificate has to be good for the host, by the authorities that this process trusts. A host may take a connection
 * and never answer, and the run may hang up meanwhile: neither leaves a socket behind.
 */
async function dialTls(
  host: string,
  dial: () => Promise<Socket>,
  over: AbortSignal,
): Promise<Duplex> {
  const socket = await dial();
  const name = isIP(host) === 0 ? host : "";
  const options = { socket, host, servername: name, rejectUnauthorized: true };
  const secured = connect({ ...options, ALPNProtocols: ["http/1.1"] });
  over.addEventListener("abort", () => secured.destroy(), { once: true });
  if (over.aborted) secured.destroy();
  // A socket that something else wraps stays when that goes.
  secured.once("close", () => socket.destroy());
  await connected(secured, "secureConnect", over);
  return secured;
}
