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
    "Use `page` or a cursor: `before` takes the `nextBefore` of an earlier page, is not affected by new entries and " +
    "is fast at any depth. `deadLetter`: `true` for triggers that never ran and won't run automatically. Default: all.",
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
      .meta({ description: `Names separated by commas, at most ${mostNames}` })
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
    "Only their number and the last reason are stored: refusals of one source for the same reason within ten minutes " +
    "are one row. A duplicate names the receipt of the first delivery.",
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
    "Why it can't run now; its work that started no run; stored deliveries that its filters exclude, each with the " +
    "conditions that exclude it; and deliveries that its sources refused before any filter.",
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
  summary: "One run, including a running one",
  description:
    "Includes the calls that it made and a hash of its config and instructions. Secrets are redacted.",
  params: instanceParams,
  input: z.object({
    modelPrompt: z.literal("true").optional().meta({ description: "Include the model's input" }),
    warnings: z.literal("true").optional().meta({ description: "Include its first warnings" }),
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
    "Each with its time, tokens, cost and log line, made from the run's last 5,000 log lines and its calls to models. " +
    "The run may still be running.",
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
  summary: "What changed between two runs",
  description:
    "From the run that started first to the other: the canonical config with a hash in place of each secret value, " +
    "hashes of the skill's files, and the instructions.",
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
