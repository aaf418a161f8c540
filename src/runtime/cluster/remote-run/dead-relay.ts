import type { TLSSocket } from "node:tls";
import { dialDoor } from "./dial-door.ts";
import type { DoorAddress } from "./dial-door.ts";

/** After so long without a byte, in ms, a connection's relay is checked. */
const silentMs = 20_000;

/**
 * Destroys a silent connection when the door answers by its name, but no more through this connection's relay. A relay whose
 * machine failed sends no end, and TCP retries unacknowledged bytes for a quarter of an hour. While the door does not answer
 * at all the connection stays: the network may come back.
 */
export function destroyOnDeadRelay(
  connection: TLSSocket,
  address: DoorAddress,
  signal: AbortSignal,
  afterMs = silentMs,
): void {
  const { remoteAddress = "", remotePort = 0 } = connection;
  const own = { ...address, door: `[${remoteAddress}]:${remotePort}` };
  const check = async (): Promise<void> => {
    const isDead = !(await answers(own, signal)) && (await answers(address, signal));
    if (isDead) connection.destroy();
    // A timeout is emitted once.
    else connection.setTimeout(afterMs);
  };
  connection.setTimeout(afterMs).on("timeout", () => void check());
}

async function answers(address: DoorAddress, signal: AbortSignal): Promise<boolean> {
  try {
    (await dialDoor(address, signal)).destroy();
    return true;
  } catch {
    return false;
  }
}
