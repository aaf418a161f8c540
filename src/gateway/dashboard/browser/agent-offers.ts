import type { AgentStatus } from "../../../../streams/status/wire.ts";

/** What is offered for an agent. What the scheduler would refuse is not; the text is why. */
export interface AgentOffers {
  readonly noRun: string | null;
  readonly noToggle: string | null;
}

/** What can be done with an agent as it is now. */
export function offersOf({ enabled, scale, models }: AgentStatus): AgentOffers {
  // Every valid config has a model, so there was none yet.
  if (models.length === 0) return { noRun: "It has no valid config yet", noToggle: null };
  if (scale === 0) {
    const why = "Set scale in its config.toml first";
    return { noRun: why, noToggle: why };
  }
  return { noRun: enabled ? null : "Enable the agent first", noToggle: null };
}
