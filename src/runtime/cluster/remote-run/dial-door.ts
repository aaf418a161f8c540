import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import type { TLSSocket } from "node:tls";
import type { Ticket } from "../../../foundation/contracts/remote-run.ts";
import { hostAndPortOf } from "../host-and-port.ts";

/** Where the scheduler's door is, and how it is known. */
export type DoorAddress = Pick<Ticket, "door" | "certificate" | "name">;

/** How long a connection and its handshake may take, in ms. */
const dialMs = 10_000;
/** Between two probes of a silent connection by the system, in ms: a machine that is gone sends no end. */
const keepAliveMs = 15_000;

/**
 * A connection to the scheduler. Resolves once the door has proved to own the pinned certificate; before that, no byte
 * of the run is sent. Rejects when there is none in time, or `signal` aborts.
 */
export function dialDoor(
  { door, certificate, name }: DoorAddress,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const pinned = new X509Certificate(certificate).raw;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(dialMs)]);
  return new Promise((resolve, reject) => {
    const socket = connect(optionsFor(door, name));
    const fail = (error: Error) => {
      limit.removeEventListener("abort", late);
      socket.destroy();
      reject(error);
    };
    const late = () => fail(new Error(`the door at ${door} did not answer in time`));
    limit.addEventListener("abort", late, { once: true });
    if (limit.aborted) late();
    socket.once("error", fail).once("close", () => fail(closed(door)));
    socket.once("secureConnect", () => {
      if (socket.getPeerX509Certificate()?.raw.equals(pinned) !== true) return fail(other(door));
      limit.removeEventListener("abort", late);
      socket.removeAllListeners("error").removeAllListeners("close");
      // Without a listener a break between two uses would end the process.
      socket.on("error", () => undefined);
      resolve(socket.setNoDelay(true).setKeepAlive(true, keepAliveMs));
    });
  });
}

function optionsFor(door: string, servername: string) {
  return {
    ...hostAndPortOf(door),
    servername,
    minVersion: "TLSv1.3" as const,
    allowHalfOpen: true,
    // The certificate itself is compared. By its dates and names a run would fail whose machine's clock is wrong.
    rejectUnauthorized: false,
  };
}

function other(door: string): Error {
  return new Error(`the server at ${door} has another certificate than the scheduler's door`);
}

function closed(door: string): Error {
  return new Error(`the door at ${door} closed the connection`);
}
