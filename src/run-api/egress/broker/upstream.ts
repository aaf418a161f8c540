import { Agent, request } from "node:http";
import type { ClientRequest } from "node:http";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";

export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values by turns. */
  readonly headers: readonly string[];
}

/** The connection to the host behind one of a run's tunnels: used again for the next request, as the run's own is. */
export class Upstream implements Disposable {
  readonly #agent: TlsAgent;

  constructor(host: string, dial: () => Promise<Socket>) {
    this.#agent = new TlsAgent(() => dialTls(host, dial));
  }

  begin({ method, path, headers }: UpstreamRequest): ClientRequest {
    return request({ agent: this.#agent, method, path, headers, setHost: false });
  }

  [Symbol.dispose](): void {
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

/** Its certificate has to be good for the host, by the authorities that this process trusts. */
async function dialTls(host: string, dial: () => Promise<Socket>): Promise<Duplex> {
  const socket = await dial();
  const options = { socket, servername: host, rejectUnauthorized: true };
  const secured = connect({ ...options, ALPNProtocols: ["http/1.1"] });
  await once(secured, "secureConnect");
  return secured;
}
