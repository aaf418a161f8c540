import type { Settings } from "../store/settings.ts";

/**
 * Up to when an earlier scheduler looked after an agent's schedule, epoch ms; undefined for an agent that it never
 * had. It lived on after the last tick, and what came due while it lived was not missed.
 */
export function lastSeenIn(
  settings: Pick<Settings, "lastAlive" | "lastTicks">,
): (agent: string) => number | undefined {
  const lastAlive = settings.lastAlive() ?? 0;
  const lastTicks = settings.lastTicks();
  return (agent) => {
    const tick = lastTicks.get(agent);
    return tick === undefined ? undefined : Math.max(tick, lastAlive);
  };
}
