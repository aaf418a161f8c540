import type { Figure } from "../figure.ts";
import { ticksAtOnce } from "../measures/cron.ts";

/** All agents are due in the same second, of a project without a history. */
export function tickFigures(agents: number): Promise<readonly Figure[]> {
  return ticksAtOnce(agents, 1);
}
