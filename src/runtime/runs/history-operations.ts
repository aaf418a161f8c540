import { z } from "zod";
import { mostNames } from "../../foundation/contracts/format.ts";
import {
  callTreeSchema,
  historyPageSchema,
  historyQuerySchema,
  hourlyRunsSchema,
  latestRunsSchema,
} from "../../foundation/contracts/history.ts";
import {
  agentParams,
  instanceParams,
  mustBeInstance,
  triggerParams,
} from "../../foundation/contracts/params.ts";
import {
  refusedDeliveriesAnswer,
  refusedDeliveriesQuerySchema,
  whyNotQuerySchema,
  whyNotSchema,
} from "../../features/webhooks/delivery-report.ts";
import { createRefusedDeliveries } from "../../features/webhooks/refused-deliveries.ts";
import { Problem } from "../../foundation/errors.ts";
import { agentOf } from "../../foundation/logs/log-reader.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { whyNoInput } from "./harness-command.ts";
import { agentOfEntry, replayOperations } from "./replay-operations.ts";
import type { RunContext, StoredRunContext } from "./run-context.ts";
import { readTrace } from "./read-trace.ts";
import { runDifferenceSchema, runSchema } from "./run-view.ts";
import { traceSchema } from "./trace-view.ts";
import { compareRuns as runDifference, firstWarnings, viewRun } from "./view-run.ts";
import { whyNot } from "./why-not.ts";

const { read } = operationsOf<RunContext>("History");
const stored = operationsOf<StoredRunContext>("History");

export const listTriggers = stored.read("/api/stats/triggers", {
  summary: "Trigger history, newest first",
  description:
    "By `page`, or by cursor: `before` takes the `nextBefore` of an earlier page, stays put while entries arrive " +
    "and is fast at any depth. `deadLetter`: `true` for triggers that never ran and won't run automatically. Default: all.",
  input: historyQuerySchema,
  output: historyPageSchema,
  changedBy: ["triggers"],
  problems: [503],
  // Neither an id nor a part of a name is narrowed by `agent`.
  isAbout: ({ id, agent, agentPart }, isMine, { store }) =>
    id === undefined ? agentPart === undefined && isMine(agent) : isMine(agentOfEntry(id, store)),
  perform: (query, { store }) => store.history.query(query),
});

const listLatestRuns = read("/api/stats/latest-runs", {
  summary: "The latest runs of some agents, and how each ended",
  input: z.object({
    agents: z
      .string()
      .meta({ description: `Names with commas between them, at most ${mostNames}` })
      .transform((names) => names.split(","))
      .pipe(z.array(z.string()).max(mostNames)),
  }),
  output: latestRunsSchema,
  problems: [503],
  isAbout: ({ agents }, isMine) => agents.every(isMine),
  perform: ({ agents }, { store }) => ({ agents: store.history.latestRuns(agents) }),
});

/** A day, for the eyes: a report of a longer time is not read again at each change. */
const shownHours = 24;

const countHourlyRuns = read("/api/stats/hours", {
  summary: `How many runs of the last ${shownHours} hours succeeded and failed, by hour`,
  output: hourlyRunsSchema,
  changedBy: ["triggers"],
  problems: [503],
  perform: (_input, { store }) => ({ hours: store.history.hourlyRuns(shownHours, Date.now()) }),
});

export const listRefusedDeliveries = stored.read("/api/stats/refused-deliveries", {
  summary: "Webhook deliveries that were refused, the latest first",
  description:
    "Of these nothing is stored but their number, and the reason of the last one: those of one source that were refused " +
    "for the same reason within ten minutes are one row. A duplicate names the receipt of the first.",
  input: refusedDeliveriesQuerySchema,
  output: refusedDeliveriesAnswer,
  changedBy: ["triggers"],
  problems: [503],
  perform: async (query, { store }) => {
    const refused = store.tables(createRefusedDeliveries);
    await refused.flush();
    return { deliveries: [...refused.query(query)] };
  },
});

export const showWhyNot = stored.read("/api/agents/:name/why-not", {
  summary: "Why an agent did not run",
  description:
    "What keeps it from running now; its work that no run was started for; stored deliveries that its filters turn away, " +
    "each with the conditions that stop it; and what its sources refused before any filter.",
  params: agentParams,
  input: whyNotQuerySchema,
  output: whyNotSchema,
  changedBy: ["agents"],
  problems: [404, 503],
  perform: async ({ name, ...query }, context) => {
    const { agent, now, sources } = await context.agentNow(name);
    const { calendars } = await context.planned();
    await context.store.tables(createRefusedDeliveries).flush();
    const deps = { ...(await redacting(context)), calendars, sources };
    return whyNot(agent, now, query, deps);
  },
});

const showCalls = read("/api/stats/triggers/:id/calls", {
  summary: "The calls around an entry",
  description:
    "The context of a call, the value that its run returned, and the tree of calls that it belongs to: the calls of a run are " +
    "the entries whose `caller` is its `instanceId`.",
  params: triggerParams,
  output: callTreeSchema,
  problems: [404, 503],
  isAbout: ({ id }, isMine, { store }) => isMine(agentOfEntry(id, store)),
  perform: ({ id }, { store, redactor: { redact, redactValue } }) => {
    const tree = store.history.callTree(id);
    if (tree === undefined) {
      throw new Problem("unknown_trigger", `there is no trigger "${id}" in the history`);
    }
    const context = tree.context === null ? null : redact(tree.context);
    return { ...tree, context, value: redactValue(tree.value) };
  },
});

export const showRun = stored.read("/api/runs/:instanceId", {
  summary: "One run, also while it runs",
  description: "With the calls that it made and the hash of what it ran; its secrets are redacted.",
  params: instanceParams,
  input: z.object({
    modelPrompt: z.literal("true").optional().meta({ description: "With what its model got" }),
    warnings: z.literal("true").optional().meta({ description: "With its first warnings" }),
  }),
  output: runSchema,
  changedBy: ["agents"],
  problems: [404, 503],
  perform: async ({ instanceId, modelPrompt, warnings }, context) => {
    const live = context.runs.find(instanceId)?.request.agent;
    const view = await viewRun(instanceId, await redacting(context), modelPrompt !== undefined);
    return {
      ...view,
      ...(warnings !== undefined && { warnings: await firstWarnings(view, context.logs) }),
      ...(live !== undefined && { noInput: whyNoInput(live) }),
    };
  },
});

export const showTrace = stored.read("/api/runs/:instanceId/trace", {
  summary: "The steps of a run: turns, tools, waits, questions, retries and hooks",
  description:
    "Each with its time, tokens and cost, and its line in the log; made from the run's last 5,000 log lines and its calls to " +
    "models, also while it runs.",
  params: instanceParams,
  output: traceSchema,
  changedBy: ["agents"],
  problems: [404, 503],
  perform: ({ instanceId }, context) => readTrace(instanceId, context),
});

/** The run that another one is compared with. */
export const comparedQuery = z.object({
  to: z.string().max(200).transform(mustBeInstance).optional().meta({
    description: "The run to compare with. Default: the agent's last success before it",
  }),
});

export const compareRuns = stored.read("/api/runs/:instanceId/diff", {
  summary: "What changed in what two runs ran",
  description:
    "From the one that started first to the other: the canonical config, with a hash in the place of each secret " +
    "value, the skill's files by hash, and the instructions.",
  params: instanceParams,
  input: comparedQuery,
  output: runDifferenceSchema,
  problems: [404, 503],
  isAbout: ({ instanceId, to = instanceId }, isMine) =>
    [instanceId, to].every((id) => isMine(agentOf(id))),
  perform: async ({ instanceId, to = null }, context) =>
    runDifference(instanceId, to, await redacting(context)),
});

/** The history of triggers, and single runs: their input, version and outcome. */
export const historyOperations = [
  listTriggers,
  listLatestRuns,
  countHourlyRuns,
  listRefusedDeliveries,
  showWhyNot,
  showCalls,
  showRun,
  showTrace,
  compareRuns,
  ...replayOperations,
] as const;

/** The context with the secrets that are known. */
async function redacting(context: StoredRunContext) {
  return { ...context, redactor: await context.redactor };
}
