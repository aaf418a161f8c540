import { Agent, request, type ClientRequest } from "node:http";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import { connected } from "../dial.ts";

export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values alternately. */
  readonly headers: readonly string[];
}

/** The connection to the host behind one of a run's tunnels; reused for later requests. */
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
 * Opens TLS to the host and verifies its certificate by the authorities that this process trusts. Destroys the socket
 * if the host never answers or the run hangs up.
 */
export async function dialTls(
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
  // Closing the TLS socket does not close the socket it wraps.
  secured.once("close", () => socket.destroy());
  await connected(secured, "secureConnect", over);
  return secured;
}
