import { z } from "zod";
import type { SchedulerContext } from "../../foundation/context.ts";
import { agentParams } from "../../foundation/contracts/params.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import type { Gatherings } from "./gatherings.ts";

export interface WebhookContext {
  readonly status: Pick<SchedulerContext["status"], "agent">;
  readonly gatherings: Pick<Gatherings, "startNow">;
}

const { change } = operationsOf<WebhookContext>("Control");
const success = z.literal(true);

export const startNow = change("/control/agents/:name/start-now", {
  summary: "Start the runs of an agent's gathering deliveries now",
  description:
    "Each key of its `[debounce]` with gathering deliveries gets its run, or queued work, before `quiet` and `most` are over.",
  scope: "trigger",
  params: agentParams,
  output: z.object({
    success,
    agent: z.string(),
    deliveries: z.int().meta({ description: "How many gathered; 0 for none" }),
    runs: z.int().meta({ description: "How many runs they start" }),
  }),
  audit: (_input, { agent, deliveries }) =>
    deliveries === 0 ? null : { act: "start-now", agent, detail: `${deliveries} gathered` },
  problems: [404, 503],
  perform: async ({ name }, { status, gatherings }) => {
    const { name: agent } = knownAgent(status, name);
    const items = await gatherings.startNow(agent);
    const deliveries = items.reduce((sum, { gathered }) => sum + (gathered?.length ?? 1), 0);
    return { success: true as const, agent, deliveries, runs: items.length };
  },
});
