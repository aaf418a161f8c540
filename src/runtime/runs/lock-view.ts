import type { HeldLock } from "../../foundation/contracts/run-state.ts";
import type { LockStatus } from "../../../streams/status/wire.ts";
import type { Lock } from "../../foundation/contracts/operator-api.ts";

/** A lock as operators and other runs see it. */
export function lockView({ resource, agent, instanceId, heldSince, expiresAt }: HeldLock): Lock {
  return { resource, agent, instanceId, heldSince: iso(heldSince), expiresAt: iso(expiresAt) };
}

/** The locks among what runs hold and wait for. */
export function heldLocks(claims: Iterable<LockStatus>): Lock[] {
  return [...claims].flatMap(({ resource, agent, instanceId, since, expiresAt }) =>
    expiresAt === null ? [] : { resource, agent, instanceId, heldSince: since, expiresAt },
  );
}

/** ISO 8601 UTC. */
export function iso(time: number): string {
  return new Date(time).toISOString();
}
