import { z } from "zod";
import { schedulerSchema } from "../../../../streams/status/wire.ts";
import { failingSchema } from "../../../foundation/contracts/history.ts";
import { fitting, shrunk } from "../bounded.ts";
import { agentRow, history, runRow } from "../rows.ts";
import { agentName, cursor, labelled, limitOf, next } from "../tool.ts";
import { optionalText, readsOnly, since, tool } from "../tool.ts";

const schedulerRow = labelled(
  schedulerSchema,
  [
    ...(["project", "version", "paused", "pausedWork", "pausedAt", "draining"] as const),
    ...(["running", "questions", "alerts"] as const),
  ],
  ["error", "warnings"],
);

export const listAgents = tool({
  title: "List agents",
  description:
    "The scheduler's state and its agents: what each does now and how its last run ended.",
  annotations: readsOnly,
  input: z.object({ cursor }),
  output: z.object({ scheduler: schedulerRow.schema, agents: z.array(agentRow.schema), next }),
  run: async ({ cursor: after = "" }, api) => {
    const { scheduler, agents } = await api.perform("GET /control/status", {});
    const rows = agents
      .filter(({ name }) => name > after)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((agent) => shrunk(agentRow.of(agent), 2_000));
    const shown = rows.slice(0, fitting(rows));
    const head = shrunk(schedulerRow.of(scheduler), 2_000);
    return {
      scheduler: head.value,
      agents: shown.map(({ value }) => value),
      next: shown.length < rows.length ? (shown.at(-1)?.value.name ?? null) : null,
      cut: [head, ...shown].some(({ cut }) => cut),
    };
  },
});

const fact = z.object({ label: z.string(), values: z.array(z.string()).readonly() });

export const agent = tool({
  title: "Show an agent",
  description: "One agent: its state, config, next ticks, failures in a row and latest five runs.",
  annotations: readsOnly,
  input: z.object({ agent: agentName }),
  output: z.object({
    agent: agentRow.schema.nullable(),
    config: z.array(fact).readonly(),
    schedule: optionalText,
    nextTicks: z.array(z.string()).readonly(),
    failing: failingSchema.nullable(),
    runs: z.array(runRow.schema),
  }),
  run: async ({ agent: name }, api) => {
    const detail = await api.perform("GET /dashboard/api/agents/:name", { name });
    const { agents } = await api.perform("GET /control/status", {});
    const { facts: config, scheduleText: schedule, nextTicks, failing } = detail;
    const found = agents.find((one) => one.name === name);
    const { rows: runs } = await history(api, { agent: name, limit: 5 });
    return { agent: found ? agentRow.of(found) : null, config, schedule, nextTicks, failing, runs };
  },
});

const text = z.string();
const turnedAwayRow = labelled(
  z.object({
    receiptId: text,
    at: text,
    source: text,
    event: text,
    action: optionalText,
    stoppedBy: z.array(z.array(z.object({ condition: text, wanted: text, got: text }))),
  }),
  ["receiptId", "at", "source"],
  ["event", "action", "stoppedBy"],
);
const refusedRow = z.object({ source: optionalText, result: text, count: z.int(), reason: text });
const spanRow = z.object({
  schedule: text,
  since: text,
  until: optionalText,
  firstAt: text,
  count: z.int(),
  reason: text,
});
const whyRow = labelled(
  z.object({
    spans: z.array(spanRow).meta({
      description: "Times in which its schedules were off, with the runs that were due",
    }),
    now: z.array(text).meta({ description: "Why it can't run now, in sentences" }),
    refusedDeliveries: z.array(refusedRow.extend({ firstAt: text, lastAt: text })),
  }),
  ["spans", "refusedDeliveries"],
  ["now"],
);

export const whyNot = tool({
  title: "Why an agent did not run",
  description:
    "Why an agent can't run now, its work that started no run, deliveries that its filters excluded, and deliveries that its sources refused.",
  annotations: readsOnly,
  input: z.object({ agent: agentName, since, limit: limitOf(10) }),
  output: whyRow.schema.extend({
    refused: z.array(runRow.schema),
    turnedAway: z.array(turnedAwayRow.schema),
  }),
  run: async ({ agent: name, ...query }, api) => {
    const answer = await api.perform("GET /api/agents/:name/why-not", { name, ...query });
    const turnedAway = answer.turnedAway.map(turnedAwayRow.of);
    return { ...whyRow.of(answer), refused: answer.refused.map(runRow.of), turnedAway };
  },
});
