import type { Socket, OnReadOpts } from "node:net";
import type { EgressPolicy } from "../../../foundation/contracts/network-allow.ts";
import { hangUpOf } from "../../wire/http-proxy.ts";
import { closeOf, endTogether } from "../../wire/join-sockets.ts";
import { admit, type AdmitDeps, type Way } from "./admit.ts";
import type { Intercept } from "./broker/exchange.ts";
import { EgressRefusal, tlsPort, type Attempt, type Authority, type Denial } from "./decide.ts";
import { firstData, firstDataProblem } from "./client-hello.ts";

/** How long a tunnel may be silent in both directions, in ms; keep-alive notices a dead peer earlier. */
const idleMs = 60 * 60_000;
/** How long a tunnel may be silent after one direction has ended, in ms: its process may have exited. */
const halfOpenIdleMs = 2 * 60_000;

/** Closes both ends of a tunnel together, after the data in transit is delivered. Resolves when both are closed. */
async function linkSockets(client: Socket, upstream: Socket): Promise<void> {
  client.setTimeout(idleMs, () => client.destroy());
  for (const side of [client, upstream]) {
    side.once("end", () => side.setTimeout(halfOpenIdleMs, () => side.destroy()));
  }
  endTogether(client, upstream);
  await Promise.all([closeOf(client), closeOf(upstream)]);
}

/** Buffer size of an idle and of a busy tunnel. */
const smallBytes = 8_192;
const largeBytes = 65_536;
/** How many unused large buffers are kept for reuse: 2 MiB, total over all runs. */
const maxFree = 32;
const free: Uint8Array[] = [];

/**
 * Writes a socket's data to `client` from large buffers that are reused after each write: with Node's new buffer for
 * each read, the scheduler's garbage collector takes half of a tunnel's time.
 */
function readsInto(client: Socket): OnReadOpts {
  let isBusy = false;
  return {
    buffer: () =>
      isBusy ? (free.pop() ?? new Uint8Array(largeBytes)) : new Uint8Array(smallBytes),
    callback: (length, buffer) => {
      isBusy = length >= smallBytes;
      return client.write(buffer.subarray(0, length), (error) => {
        // After an error, the buffer may still be part of a write.
        if (!error && buffer.length === largeBytes && free.length < maxFree) free.push(buffer);
      });
    },
  };
}

/** Passes the answer of `upstream` to the client: data read by `readsInto` as well as emitted data. */
function passBack(upstream: Socket, client: Socket): void {
  client.on("drain", () => upstream.resume());
  upstream.pipe(client);
}

export interface TunnelDeps extends AdmitDeps {
  /** Takes the tunnels to hosts that a secret is bound to. */
  readonly intercept: Intercept;
}

interface TunnelRequest {
  readonly attempt: Attempt;
  readonly policy: EgressPolicy;
  readonly client: Socket;
  /** Aborts at the end of the run. */
  readonly signal: AbortSignal;
  /** Called when the client's CONNECT is accepted; later bytes are the host's. */
  readonly onAccepted: () => void;
  readonly onDenied: (refusal: Denial) => void;
}

/** Opens the tunnel that a CONNECT requests; resolves when it is closed. Rejects with an `EgressRefusal`. */
export async function connectTunnel(request: TunnelRequest, deps: TunnelDeps): Promise<void> {
  const { attempt, policy, signal, client } = request;
  const { instanceId, asked } = attempt;
  const hangUp = hangUpOf(client);
  const until = AbortSignal.any([signal, hangUp.signal]);
  const way = await admit(policy, asked, "https", { instanceId, signal: until }, deps);
  hangUp.stop();
  const isBound = policy.bindings.some(({ hosts }) => hosts.includes(asked.host));
  if (isBound && asked.port === tlsPort) {
    accept(request);
    await assertFirstData(client, asked);
    await deps.intercept({
      instanceId,
      host: asked.host,
      port: asked.port,
      client,
      dial: () => way.dial(signal),
      bindings: policy.bindings,
      push: policy.push,
      onDenied: request.onDenied,
    });
  } else await passThrough(request, way);
}

async function passThrough(request: TunnelRequest, way: Way): Promise<void> {
  const { attempt, client, signal } = request;
  const { asked } = attempt;
  const upstream = await way.dial(signal, readsInto(client));
  if (client.destroyed) return void upstream.destroy();
  const closed = linkSockets(client, upstream);
  accept(request);
  const isTls = asked.port === tlsPort;
  // Servers of other protocols may speak first.
  if (!isTls) passBack(upstream, client);
  await assertFirstData(client, asked);
  client.pipe(upstream);
  if (isTls) passBack(upstream, client);
  await closed;
}

/** Rejects with an `EgressRefusal` if the connection's first bytes don't match its host and port. */
async function assertFirstData(client: Socket, asked: Authority): Promise<void> {
  const data = await firstData(client, { isTls: asked.port === tlsPort });
  const problem = firstDataProblem(data, asked.host);
  if (problem === null) return;
  throw new EgressRefusal(problem.reason, asked, problem.detail);
}

function accept({ client, attempt, onAccepted }: TunnelRequest): void {
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  onAccepted();
  const { bytesRead, bytesWritten } = client;
  attempt.bytes = () => ({
    bytesOut: client.bytesRead - bytesRead,
    bytesIn: client.bytesWritten - bytesWritten,
  });
}
