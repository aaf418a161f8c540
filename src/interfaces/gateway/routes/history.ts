import { z } from "zod";
import {
  callTreeSchema,
  historyPageSchema,
  historyQuerySchema,
  latestRunsSchema,
} from "../../../foundation/contracts/history.ts";
import type { Act } from "../../../foundation/contracts/audit-acts.ts";
import { counted, mostNames } from "../../../foundation/contracts/format.ts";
import {
  receiptViewSchema,
  replayResultSchema,
} from "../../../foundation/contracts/operator-api.ts";
import type { ReplayResult } from "../../../foundation/contracts/operator-api.ts";
import {
  refusedDeliveriesAnswer,
  refusedDeliveriesQuerySchema,
  whyNotQuerySchema,
  whyNotSchema,
} from "../../../features/webhooks/delivery-report.ts";
import { runDifferenceSchema, runSchema } from "../../views/run-view.ts";
import { hasCode } from "../../../foundation/errors.ts";
import { agentOf } from "../../../foundation/logs/log-reader.ts";
import {
  emptyBody,
  agentParams,
  instanceParams,
  mustBeAgent,
  mustBeInstance,
  receiptParams,
  triggerParams,
} from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";

const { get, post } = routesOf("History");
const webhooks = routesOf("Webhooks");

/** The run that another one is compared with. */
export const comparedQuery = z.object({
  to: z.string().max(200).transform(mustBeInstance).optional().meta({
    description:
      "The run to compare with; without it the agent's last run before it that succeeded",
  }),
});
const replayQuery = z.object({
  agent: z
    .string()
    .transform(mustBeAgent)
    .optional()
    .meta({ description: "Only this agent, whatever its filters are; else all that match" }),
});

const latestRunsQuery = z.object({
  agents: z
    .string()
    .meta({ description: `Names with commas between them, at most ${mostNames}` })
    .transform((names) => names.split(","))
    .pipe(z.array(z.string()).max(mostNames)),
});

/** The history of triggers, and single runs: their input, version and outcome. */
export function historyRoutes({ operations }: GatewayDeps) {
  const agentOfEntry = agentOfEntryIn(operations);
  return [
    get("/api/stats/triggers", {
      summary: "Trigger history, newest first",
      description:
        "By `page`, or by cursor: `before` takes the `nextBefore` of an earlier page, stays put while entries arrive " +
        "and is fast at any depth. Without `deadLetter` all entries, `true` only what never ran and won't by itself.",
      query: historyQuerySchema,
      // Neither an id nor a part of a name is narrowed by `agent`.
      isAbout: ({ query: { id, agent, agentPart } }, isMine) =>
        id === undefined ? agentPart === undefined && isMine(agent) : isMine(agentOfEntry(id)),
      response: { 200: historyPageSchema },
      problems: [503],
      handle: ({ query }) => operations.history(query),
    }),
    get("/api/stats/latest-runs", {
      summary: "The latest runs of some agents, and how each ended",
      query: latestRunsQuery,
      isAbout: ({ query }, isMine) => query.agents.every(isMine),
      response: { 200: latestRunsSchema },
      problems: [503],
      handle: ({ query }) => operations.latestRuns(query.agents),
    }),
    get("/api/stats/refused-deliveries", {
      summary: "Webhook deliveries that were refused, the latest first",
      description:
        "Of these nothing is stored but their number, and the reason of the last one: those of one source that were refused " +
        "for the same reason within ten minutes are one row. A duplicate names the receipt of the first.",
      query: refusedDeliveriesQuerySchema,
      response: { 200: refusedDeliveriesAnswer },
      problems: [503],
      handle: async ({ query }) => ({
        deliveries: [...(await operations.refusedDeliveries(query))],
      }),
    }),
    get("/api/agents/:name/why-not", {
      summary: "Why an agent did not run",
      description:
        "What keeps it from running now; its work that no run was started for; stored deliveries that its filters turn away, " +
        "each with the conditions that stop it; and what its sources refused before any filter.",
      params: agentParams,
      query: whyNotQuerySchema,
      response: { 200: whyNotSchema },
      problems: [404, 503],
      handle: ({ params, query }) => operations.whyNot(params.name, query),
    }),
    get("/api/stats/triggers/:id/calls", {
      summary: "The calls around an entry",
      description:
        "The context of a call, the value that its run returned, and the tree of calls that it belongs to: the calls of a run are " +
        "the entries whose `caller` is its `instanceId`.",
      params: triggerParams,
      isAbout: ({ params }, isMine) => isMine(agentOfEntry(params.id)),
      response: { 200: callTreeSchema },
      problems: [404, 503],
      handle: ({ params }) => operations.callTree(params.id),
    }),
    get("/api/runs/:instanceId", {
      summary: "One run, also while it runs",
      description:
        "With the calls that it made and the hash of what it ran; its secrets are redacted.",
      params: instanceParams,
      query: z.object({
        modelPrompt: z.literal("true").optional().meta({ description: "With what its model got" }),
      }),
      response: { 200: runSchema },
      problems: [404, 503],
      handle: ({ params, query }) =>
        operations.run(params.instanceId, query.modelPrompt !== undefined),
    }),
    get("/api/runs/:instanceId/diff", {
      summary: "What changed in what two runs ran",
      description:
        "From the one that started first to the other: the canonical config, with a hash in the place of each secret " +
        "value, the skill's files by hash, and the instructions.",
      params: instanceParams,
      query: comparedQuery,
      isAbout: ({ params, query }, isMine) =>
        [params.instanceId, query.to ?? params.instanceId].every((id) => isMine(agentOf(id))),
      response: { 200: runDifferenceSchema },
      problems: [404, 503],
      handle: ({ params, query }) => operations.runDifference(params.instanceId, query.to ?? null),
    }),
  ];
}

/** Stored deliveries: shown, and run again; work of any kind is run again by its history entry. */
export function receiptRoutes({ operations }: GatewayDeps) {
  const agentOfEntry = agentOfEntryIn(operations);
  const matchedAgents = (id: string): readonly string[] => {
    try {
      return operations.receipt(id).matched;
    } catch (error) {
      if (hasCode(error, "unknown_receipt")) return [];
      throw error;
    }
  };
  return [
    webhooks.get("/api/stats/webhooks/:receiptId", {
      summary: "A stored webhook delivery, its secrets redacted",
      params: receiptParams,
      isAbout: ({ params }, isMine) => matchedAgents(params.receiptId).some(isMine),
      response: { 200: receiptViewSchema },
      problems: [404, 503],
      handle: ({ params }) => operations.receipt(params.receiptId),
    }),
    webhooks.post("/api/webhooks/:receiptId/replay", {
      summary: "Run a stored webhook delivery again",
      description:
        "Makes new work, also of a delivery whose work was dropped or that matched no agent. Asking twice runs it twice.",
      scope: "trigger",
      isAbout: ({ params, query }, isMine) =>
        isMine(query.agent) && matchedAgents(params.receiptId).some(isMine),
      params: receiptParams,
      query: replayQuery,
      body: emptyBody,
      response: { 200: replayResultSchema },
      audit: replayAct,
      problems: [404, 409, 503],
      handle: ({ params, query }) => operations.replay(params.receiptId, query.agent ?? null),
    }),
    post("/api/triggers/:id/replay", {
      summary: "Run the work of a history entry again",
      description:
        "Of any kind: a webhook's delivery, a schedule's tick, a manual prompt, a call. Makes new work whose entry names " +
        "this one as `replayOf`; no run waits for the value of a replayed call. Asking twice runs it twice.",
      scope: "trigger",
      isAbout: ({ params }, isMine) => isMine(agentOfEntry(params.id)),
      params: triggerParams,
      response: { 200: replayResultSchema },
      audit: replayAct,
      problems: [404, 409, 503],
      handle: ({ params }) => operations.replayTrigger(params.id),
    }),
  ];
}

/** Finds the agent of an entry of the history; null without one. */
const agentOfEntryIn =
  ({ history }: GatewayDeps["operations"]) =>
  (id: string): string | null =>
    history({ id, page: 1, limit: 1 }).triggers[0]?.agent ?? null;

function replayAct(
  { params }: { readonly params: { readonly id: string } | { readonly receiptId: string } },
  { matched }: ReplayResult,
): Act {
  const [first, ...others] = matched;
  const about = others.length === 0 && first !== undefined ? first : {};
  const of = Object.values(params).join("");
  return { ...about, act: "replay", detail: `${of}: ${counted(matched.length, "agent")}` };
}
