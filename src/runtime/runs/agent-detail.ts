import type { AgentConfig } from "../../../streams/agent-config.ts";
import { nextTick } from "../../../streams/triggers/next-tick.ts";
import { agentFacts } from "../../foundation/config/agent-view.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { AgentAnswer } from "../../foundation/contracts/operator-api.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import { agentFailing } from "./view-run.ts";

/** An agent in full. Rejects with Problem `unknown_agent`. */
export async function agentDetail(
  name: string,
  { status, store, redactor }: SchedulerContext,
): Promise<AgentAnswer> {
  const { config: active } = knownAgent(status, name);
  const config = active && maskSecrets(active, redactor);
  // The library that describes schedules is loaded with the first agent that is shown.
  const { scheduleText: describe } = await import("../../foundation/config/schedule-text.ts");
  const scheduleText = describe(config?.schedule ?? null);
  return {
    config,
    nextTicks: config === null ? [] : nextTicks(config, Date.now()),
    failing: agentFailing(name, store),
    scheduleText,
    facts: config === null ? [] : agentFacts(config, scheduleText),
  };
}

const shownTicks = 5;

function nextTicks({ schedule, timezone }: AgentConfig, now: number): string[] {
  const ticks: string[] = [];
  if (schedule === null) return ticks;
  let tick: number | null = now;
  while (ticks.length < shownTicks) {
    tick = nextTick({ expression: schedule, timezone }, tick);
    if (tick === null) break;
    ticks.push(new Date(tick).toISOString());
  }
  return ticks;
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
