import type { TLSSocket } from "node:tls";
import { dialDoor } from "./dial-door.ts";
import type { DoorAddress } from "./dial-door.ts";

/** After so long without a byte, in ms, it is looked whether a connection's way is still there. */
const silentMs = 20_000;

/**
 * Cuts a connection whose way is gone while another one leads to the door. A relay whose machine failed sends no end, and
 * for an answer to bytes that are under way the system waits a quarter of an hour. While no way leads there, nothing is
 * cut: the same one may come back.
 */
export function cutOnDeadWay(
  connection: TLSSocket,
  address: DoorAddress,
  signal: AbortSignal,
  afterMs = silentMs,
): void {
  const { remoteAddress = "", remotePort = 0 } = connection;
  const own = { ...address, door: `[${remoteAddress}]:${remotePort}` };
  const look = async (): Promise<void> => {
    const isDead = !(await leadsThere(own, signal)) && (await leadsThere(address, signal));
    if (isDead) connection.destroy();
    // It is called once after each time that it is set.
    else connection.setTimeout(afterMs);
  };
  connection.setTimeout(afterMs).on("timeout", () => void look());
}

async function leadsThere(address: DoorAddress, signal: AbortSignal): Promise<boolean> {
  try {
    (await dialDoor(address, signal)).destroy();
    return true;
  } catch {
    return false;
  }
}
