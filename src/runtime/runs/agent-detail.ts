import type { AgentConfig } from "../../../streams/agent-config.ts";
import { agentFacts } from "../../foundation/config/agent-view.ts";
import { upcomingRuns } from "../../foundation/config/upcoming-runs.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { AgentAnswer } from "../../foundation/contracts/operator-api.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import { agentFailing } from "./view-run.ts";

/** An agent in full. Rejects with Problem `unknown_agent`. */
export async function agentDetail(
  name: string,
  { status, store, redactor, project$ }: SchedulerContext,
): Promise<AgentAnswer> {
  const { config: active } = knownAgent(status, name);
  const config = active && maskSecrets(active, redactor);
  const { calendars } = project$.value;
  // The library that describes schedules is loaded with the first agent that is shown.
  const { scheduleText: describe } = await import("../../foundation/config/schedule-text.ts");
  const next = config === null ? [] : upcomingRuns(config, { calendars, now: Date.now() });
  const runs = next.filter(({ leftOut }) => leftOut === null);
  return {
    config,
    nextTicks: runs.map(({ at }) => at),
    next,
    failing: agentFailing(name, store),
    scheduleText: describe(config?.schedule ?? null),
    facts: config === null ? [] : agentFacts(config, describe),
  };
}

const mask = "***";

/** The config for a person: without known secrets, headers of models, and the URL of a heartbeat, which may hold some. */
export function maskSecrets(config: AgentConfig, { redactValue }: Redactor): AgentConfig {
  const models = config.models.map((model) => {
    const names = Object.keys(model.headers);
    return { ...model, headers: Object.fromEntries(names.map((name) => [name, mask])) };
  });
  return redactValue({ ...config, models, heartbeat: config.heartbeat && mask }) as AgentConfig;
}
