import type { LastSeen } from "../../streams/triggers/triggers-for.ts";
import type { Settings } from "../store/settings.ts";

/**
 * Up to when an earlier scheduler looked after an agent's schedule, and which one that was; undefined for an agent
 * that it never had or that had none. It lived on after the last tick, and what came due while it lived was not
 * missed.
 */
export function lastSeenIn(
  settings: Pick<Settings, "lastAlive" | "lastTicks">,
): (agent: string) => LastSeen | undefined {
  const lastAlive = settings.lastAlive() ?? 0;
  const lastTicks = settings.lastTicks();
  return (agent) => {
    const { at = 0, schedule = null } = lastTicks.get(agent) ?? {};
    return schedule === null ? undefined : { at: Math.max(at, lastAlive), schedule };
  };
}
