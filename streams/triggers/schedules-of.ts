import type { AgentConfig } from "../agent-config.ts";
import type { Schedule } from "./next-tick.ts";

export interface NamedSchedule extends Schedule {
  /** Empty for the one without a name. */
  readonly name: string;
}

/** The schedules of an agent. */
export function schedulesOf(config: AgentConfig | null): readonly NamedSchedule[] {
  if (config?.schedule == null) return [];
  return [{ name: "", expression: config.schedule, timezone: config.timezone }];
}
