import { z } from "zod";
import type { Act } from "../../foundation/contracts/audit-acts.ts";
import { counted } from "../../foundation/contracts/format.ts";
import {
  receiptViewSchema,
  replayResultSchema,
  replayUnmatchedSchema,
  unmatchedReplaySchema,
} from "../../foundation/contracts/operator-api.ts";
import type { ReplayResult } from "../../foundation/contracts/operator-api.ts";
import { mustBeAgent, receiptParams, triggerParams } from "../../foundation/contracts/params.ts";
import { viewReceipt } from "../../features/webhooks/receipt-view.ts";
import { operationsOf } from "../../foundation/operation.ts";
import type { StoreReader } from "../../foundation/store/store.ts";
import { replay, replayTrigger as replayWork } from "./replay.ts";
import { replayUnmatched as replayPage } from "./replay-unmatched.ts";
import type { RunContext } from "./run-context.ts";

const webhooks = operationsOf<RunContext>("Webhooks");

const showReceipt = webhooks.read("/api/stats/webhooks/:receiptId", {
  summary: "A stored webhook delivery, its secrets redacted",
  params: receiptParams,
  output: receiptViewSchema,
  problems: [404, 503],
  isAbout: ({ receiptId }, isMine, { store }) => matchedAgents(receiptId, store).some(isMine),
  perform: ({ receiptId }, { store, redactor }) =>
    viewReceipt(receiptId, { receipt: (id) => store.receipts.get(id), redactor }),
});

const replayReceipt = webhooks.change("/api/webhooks/:receiptId/replay?agent", {
  summary: "Run a stored webhook delivery again",
  description:
    "Makes new work, also of a delivery whose work was dropped or that matched no agent. Asking twice runs it twice.",
  scope: "trigger",
  params: receiptParams,
  input: z.object({
    agent: z
      .string()
      .transform(mustBeAgent)
      .optional()
      .meta({ description: "Only this agent, whatever its filters are; else all that match" }),
  }),
  output: replayResultSchema,
  problems: [404, 409, 503],
  isAbout: ({ receiptId, agent }, isMine, { store }) =>
    isMine(agent) && matchedAgents(receiptId, store).some(isMine),
  audit: ({ receiptId }, result) => replayAct(receiptId, result),
  perform: ({ receiptId, agent = null }, context) => replay(receiptId, agent, context),
});

const replayUnmatched = webhooks.change("/api/webhooks/replay-unmatched", {
  summary: "Run stored deliveries that matched no agent and match one now",
  description:
    "For use after a filter is corrected. The earliest first, each at most once, a page at a time: at most 50 deliveries, and " +
    "none for an agent whose queue is half full. Asking again continues. Not for tokens of some agents.",
  scope: "trigger",
  input: replayUnmatchedSchema,
  output: unmatchedReplaySchema,
  problems: [409, 503],
  isAbout: () => false,
  audit: ({ since, dryRun }, { deliveries }) =>
    dryRun === true || deliveries.length === 0
      ? null
      : {
          act: "replay",
          detail: `unmatched since ${since}: ${counted(deliveries.length, "receipt")}`,
        },
  perform: (input, context) => replayPage(input, context),
});

const replayTrigger = operationsOf<RunContext>("History").change("/api/triggers/:id/replay", {
  summary: "Run the work of a history entry again",
  description:
    "Of any kind: a webhook's delivery, a schedule's tick, a manual prompt, a call. Makes new work whose entry names " +
    "this one as `replayOf`; no run waits for the value of a replayed call. Asking twice runs it twice.",
  scope: "trigger",
  params: triggerParams,
  output: replayResultSchema,
  problems: [404, 409, 503],
  isAbout: ({ id }, isMine, { store }) => isMine(agentOfEntry(id, store)),
  audit: ({ id }, result) => replayAct(id, result),
  perform: ({ id }, context) => replayWork(id, context),
});

/** Stored deliveries and entries, run again. */
export const replayOperations = [
  showReceipt,
  replayReceipt,
  replayUnmatched,
  replayTrigger,
] as const;

/** The agent of an entry of the history; null without one. */
export function agentOfEntry(id: string, { history }: StoreReader): string | null {
  return history.query({ id, page: 1, limit: 1 }).triggers[0]?.agent ?? null;
}

/** The agents that a stored delivery matched; none if it is not stored. */
function matchedAgents(id: string, { receipts }: StoreReader): readonly string[] {
  return receipts.get(id)?.matched ?? [];
}

/** The act of a replay of a delivery or an entry. */
function replayAct(id: string, { matched }: ReplayResult): Act {
  const [first, ...others] = matched;
  const about = others.length === 0 && first !== undefined ? first : {};
  return { ...about, act: "replay", detail: `${id}: ${counted(matched.length, "agent")}` };
}
