import { z } from "zod";
import type { ToolApi } from "../api-call.ts";
import { Problem } from "../../../foundation/errors.ts";
import { history, runRow } from "../rows.ts";
import { agentName, changes, optionalText, tool } from "../tool.ts";
import { untilEnded, waitInput } from "../wait.ts";

const started = z.object({
  triggerId: z.string(),
  instanceId: optionalText.meta({ description: "The run; null while it is queued" }),
  queued: z.boolean(),
  repeated: z.boolean().default(false).meta({
    description: "Whether an earlier call with this key started it",
  }),
});

export const start = tool({
  title: "Start a run",
  description:
    "Starts an agent now, or queues the run. With `wait`, answers once it has ended or the time is over; `run` shows it later. With an `idempotencyKey` the call can be repeated safely.",
  annotations: changes,
  input: z.object({
    agent: agentName,
    prompt: z.string().optional().meta({ description: "Extra instructions for this run only" }),
    idempotencyKey: z.string().min(1).max(200).optional().meta({
      description: "Starts the agent once for each key: a later call answers about the same run",
    }),
    wait: waitInput,
  }),
  output: started.extend({
    run: runRow.schema.nullable().meta({ description: "Its entry in the history, with `wait`" }),
  }),
  run: async ({ agent, prompt, idempotencyKey: key, wait }, api) => {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    const answer = await api.perform(
      "POST /control/trigger/:name",
      { name: agent, prompt },
      headers,
    );
    const first = started.parse(answer);
    if (wait === 0) return { ...first, run: null };
    const run = await untilEnded(wait, () => entryOf(agent, first.triggerId, api), api);
    const { instanceId, outcome } = run;
    return { ...first, instanceId, queued: outcome === null && instanceId === null, run };
  },
});

async function entryOf(agent: string, id: string, api: ToolApi) {
  const [entry] = (await history(api, { agent, id })).rows;
  if (entry !== undefined) return entry;
  throw new Problem("unknown_trigger", `The history does not contain the trigger ${id}.`);
}
