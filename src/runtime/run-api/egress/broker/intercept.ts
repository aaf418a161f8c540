import { createServer } from "node:http";
import { TLSSocket, type SecureContext } from "node:tls";
import {
  limitOpenRequests,
  pipelinedByPrograms,
} from "../../../../foundation/contracts/request-limit.ts";
import { answerMasks } from "./answer-masks.ts";
import { exchange, type BrokeredTunnel, type Intercept } from "./exchange.ts";
import { Upstream } from "./upstream.ts";
import { closeOf } from "../../../wire/join-sockets.ts";

/** How long a connection may be idle between two requests, in ms. */
const keepAliveTimeout = 60_000;
const limits = {
  requestTimeout: 0,
  headersTimeout: 60_000,
  keepAliveTimeout,
  ...limitOpenRequests(pipelinedByPrograms),
};

/**
 * Terminates the TLS of tunnels with a certificate of the run's own authority, and forwards their requests to the host
 * with the secrets in their headers. `contextFor` gives a host's certificate, issued by the run's authority, and its key.
 */
export function createIntercept(
  contextFor: (instanceId: string, host: string) => Promise<SecureContext>,
): Intercept {
  const tunnels = new WeakMap<object, BrokeredTunnel>();
  const server = createServer(limits, (request, response) => {
    const tunnel = tunnels.get(request.socket);
    if (tunnel === undefined) return void request.socket.destroy();
    exchange(request, response, tunnel).catch(() => void request.socket.destroy());
  });

  return async (interception) => {
    const { client, host, instanceId, bindings, dial } = interception;
    const secureContext = await contextFor(instanceId, host);
    const secured = new TLSSocket(client, {
      isServer: true,
      secureContext,
      ALPNProtocols: ["http/1.1"],
    });
    // The client hung up or does not trust the authority, before it sent a request.
    secured.on("error", () => secured.destroy());
    const bound = bindings.filter(({ hosts }) => hosts.includes(host));
    using upstream = new Upstream(host, dial);
    tunnels.set(secured, { interception, upstream, masks: answerMasks(bound) });
    server.emit("connection", secured);
    await closeOf(client);
  };
}
