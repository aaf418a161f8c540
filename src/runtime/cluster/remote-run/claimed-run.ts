import type { DoorAddress } from "./dial-door.ts";
import type { Lease } from "./lease.ts";

/** A run that holds its claim, for what asks the scheduler on its behalf. */
export interface ClaimedRun {
  readonly address: DoorAddress;
  /** Secret: every request carries it. */
  readonly token: string;
  readonly leaseMs: number;
  readonly lease: Lease;
  /** Ends all requests. */
  readonly signal: AbortSignal;
}
