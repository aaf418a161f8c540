import { setTimeout as passed } from "node:timers/promises";

/**
 * Waits for `ms` milliseconds where no event says when to go on; `why` names the reason: what must not happen meanwhile,
 * or how late another program is made.
 */
export function pause(ms: number, why: string): Promise<unknown> {
  return passed(ms, why);
}
