import type { Socket, OnReadOpts } from "node:net";
import type { EgressPolicy } from "../../../foundation/contracts/egress.ts";
import { admit } from "./admit.ts";
import type { AdmitDeps, Way } from "./admit.ts";
import type { Attempt } from "./attempt.ts";
import { tlsPort } from "./authority.ts";
import type { Authority } from "./authority.ts";
import { EgressRefusal } from "./decide.ts";
import { firstData, firstDataProblem } from "./first-bytes.ts";
import type { Intercept } from "./interception.ts";

/** How long a tunnel may be silent in both directions, in ms; keep-alive notices a dead peer earlier. */
const idleMs = 60 * 60_000;
/** The same for a tunnel that has ended in one direction: the end of a process looks the same. */
const halfOpenIdleMs = 2 * 60_000;

/** The two ends of a tunnel close together. Resolves when both are closed; what one sent before still reaches the other. */
async function linkSockets(client: Socket, upstream: Socket): Promise<void> {
  client.setTimeout(idleMs, () => client.destroy());
  await Promise.all([closeOf(client, upstream), closeOf(upstream, client)]);
}

function closeOf(socket: Socket, other: Socket): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      if (socket.readableEnded) other.destroySoon();
      else other.destroy();
      resolve();
    };
    socket.once("end", () => socket.setTimeout(halfOpenIdleMs, () => socket.destroy()));
    if (socket.closed) end();
    else socket.once("close", end);
  });
}

/** What a tunnel that is idle holds. */
const smallBytes = 8_192;
const largeBytes = 65_536;
/** Large ones that no tunnel uses right now: 2 MiB of all runs together. */
const maxFree = 32;
const free: Uint8Array[] = [];

/**
 * Writes what a socket reads to `client`, out of large buffers that are used again once they are written: those that Node
 * makes for each read keep the garbage collector of the whole scheduler busy for half of a tunnel's time.
 */
function readsInto(client: Socket): OnReadOpts {
  let isBusy = false;
  return {
    buffer: () =>
      isBusy ? (free.pop() ?? new Uint8Array(largeBytes)) : new Uint8Array(smallBytes),
    callback: (length, buffer) => {
      isBusy = length >= smallBytes;
      return client.write(buffer.subarray(0, length), (error) => {
        // After an error, it may still be part of a write.
        if (!error && buffer.length === largeBytes && free.length < maxFree) free.push(buffer);
      });
    },
  };
}

/** Lets `upstream` answer: what it read by `readsInto`, as well as what it emits. */
function passBack(upstream: Socket, client: Socket): void {
  client.on("drain", () => upstream.resume());
  upstream.pipe(client);
}

export interface TunnelDeps extends AdmitDeps {
  /** Takes the tunnels to hosts that a secret is bound to; null passes them through. */
  readonly intercept: Intercept | null;
}

export interface TunnelRequest {
  readonly attempt: Attempt;
  readonly asked: Authority;
  readonly policy: EgressPolicy;
  readonly client: Socket;
  /** Aborts at the end of the run. */
  readonly signal: AbortSignal;
  /** The client gets an answer: what comes later is the host's. */
  readonly onAccepted: () => void;
  readonly onDenied: (refusal: Pick<EgressRefusal, "reason" | "detail">) => void;
}

/** Opens the tunnel that a CONNECT asks for; resolves when it is closed. Rejects with an `EgressRefusal`. */
export async function connectTunnel(request: TunnelRequest, deps: TunnelDeps): Promise<void> {
  const { attempt, asked, policy, signal, client } = request;
  const { instanceId } = attempt;
  const way = await admit(policy, asked, "https", { instanceId, signal }, deps);
  const isBound = asked.port === tlsPort && isBoundHost(policy, asked.host);
  if (deps.intercept !== null && isBound) {
    accept(request);
    await assertFirstData(client, asked);
    await deps.intercept({
      instanceId,
      host: asked.host,
      port: asked.port,
      client,
      dial: () => way.dial(signal),
      bindings: policy.bindings,
      onDenied: (reason, detail) => request.onDenied({ reason, detail }),
    });
  } else await passThrough(request, way);
}

async function passThrough(request: TunnelRequest, way: Way): Promise<void> {
  const { asked, client, signal } = request;
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

/** Throws an `EgressRefusal` when the connection does not begin as one to the host. */
async function assertFirstData(client: Socket, asked: Authority): Promise<void> {
  const data = await firstData(client, { isTls: asked.port === tlsPort });
  const problem = firstDataProblem(data, asked.host);
  if (problem === null) return;
  throw new EgressRefusal(problem.reason, asked, { more: problem.detail });
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

function isBoundHost({ bindings }: EgressPolicy, host: string): boolean {
  return bindings.some(({ hosts }) => hosts.includes(host));
}
