import { setTimeout as passed } from "node:timers/promises";

/**
 * Waits for `ms` milliseconds where no event says when to go on; `why` names the reason: what must not happen meanwhile,
 * or how late another program is made. Resolves to `value`.
 */
export function pause(ms: number, why: string): Promise<void>;
export function pause<T>(ms: number, why: string, value: T): Promise<T>;
export function pause<T>(ms: number, _why: string, value?: T): Promise<T | undefined> {
  return passed(ms, value);
}
