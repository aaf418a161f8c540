import { z } from "zod";
import { isError } from "../../../../streams/outcomes.ts";
import { hasCode } from "../../../foundation/errors.ts";
import type { RunView } from "../../../runtime/runs/run-view.ts";
import { missingRunPage } from "../../dashboard/card-pages.tsx";
import { page as changesPage } from "../../dashboard/pages/changes/page.tsx";
import { sendLivePage, sendPage } from "../../dashboard/send-page.tsx";
import { agentAddress, pathOf, runAddress } from "../../dashboard/text/addresses.ts";
import {
  agentParams,
  instanceParams,
  unknownInstance,
} from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import { isPageVisit } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import {
  agentStatus,
  changedByOf,
  documentOf,
  frameOf,
  performed,
  readOrNull,
} from "../page-data.ts";
import { comparedQuery } from "../../../runtime/runs/history-operations.ts";
import { firstPartOf } from "./logs.ts";

const { get } = routesOf("Pages");
const path = "/dashboard/agents/:name/runs/:instanceId";
const compared = "GET /api/runs/:instanceId/diff";
const shared = {
  params: agentParams.extend(instanceParams.shape),
  produces: "text/html",
  problems: [404],
} as const;

/** Pages about single runs. */
export const runPages = (deps: GatewayDeps) => [
  get(path, {
    ...shared,
    summary: "One run, live",
    handle: async (request, reply) => {
      const { name: agent, instanceId } = request.params;
      const run = await runOrNull(instanceId, deps);
      if (run === null && !isPageVisit(request)) throw unknownInstance(instanceId);
      if (run === null) return sendPage(reply, missingRunPage(agent, instanceId), 404);
      if (run.agent !== agent) return reply.redirect(runAddress(run.agent, instanceId), 302);
      const { page } = await import("../../dashboard/pages/run/page.tsx");
      return sendLivePage(reply, page, {
        frame: frameOf(deps),
        run,
        changedBy: changedByOf("GET /api/runs/:instanceId", deps),
        status: agentStatus(agent, deps),
        ...(await logOf(run, deps)),
        ...(await documentsOf(run, deps)),
      });
    },
  }),
  get("/dashboard/agents/:name/runs/latest", {
    summary: "Leads to an agent's latest run, or to the agent without one",
    params: agentParams,
    response: { 302: z.undefined() },
    handle: async ({ params: { name: agent } }, reply) => {
      const latest = { agent, limit: 200 };
      const { triggers } = await performed("GET /api/stats/triggers", latest, deps);
      const instanceId = triggers.find((entry) => entry.instanceId !== null)?.instanceId;
      const address =
        instanceId === undefined || instanceId === null
          ? agentAddress(agent)
          : runAddress(agent, instanceId);
      return reply.header("cache-control", "no-store").redirect(address, 302);
    },
  }),
  get(`${path}/changes`, {
    ...shared,
    summary: "What changed between two runs of an agent",
    query: comparedQuery,
    handle: async ({ params: { name: agent, instanceId }, query }, reply) => {
      const difference = await performed(compared, { instanceId, ...query }, deps);
      return sendLivePage(reply, changesPage, { frame: frameOf(deps), agent, difference });
    },
  }),
];

/** The steps of a run, its files, and its last lines; for a run that failed, the lines around its first error. */
async function logOf({ agent, instanceId, outcome }: RunView, deps: GatewayDeps) {
  // Loaded at the first visit: a start does without the engine for log lines.
  const { runChoice, shownLines } = await import("../../dashboard/pages/run/run-log.tsx");
  const linesAt = (at: string) =>
    readOrNull(() => firstPartOf(agent, runChoice(instanceId, at), deps, shownLines));
  const path = pathOf`/api/runs/${instanceId}/trace`;
  const trace = await documentOf("GET /api/runs/:instanceId/trace", () => path, deps);
  const filesPath = pathOf`/api/runs/${instanceId}/files`;
  const files = await documentOf("GET /api/runs/:instanceId/files", () => filesPath, deps);
  const hasFailed = outcome !== null && isError(outcome);
  const opened = (hasFailed && trace.value?.firstError) || "";
  const last = await linesAt("");
  const isThere = opened === "" || last?.lines.some(({ position }) => position === opened);
  return { trace, files, opened, lines: isThere === true ? last : await linesAt(opened) };
}

/** A page is not rendered with the contents of a larger delivery, nor is a larger one read for it. */
const maxReceiptBytes = 16 * 1024;

/** A run's page shows its delivery and, if the run failed, all changes since the last success. */
async function documentsOf(run: RunView, deps: GatewayDeps) {
  const { receiptId, payload, lastSuccess, failing, instanceId } = run;
  const delivery = "GET /api/stats/webhooks/:receiptId";
  const hasChanges = failing !== null && lastSuccess?.changed === true;
  const isLarge = payload !== null && payload.length > maxReceiptBytes;
  const receipt =
    receiptId === null || isLarge
      ? null
      : await readOrNull(() => performed(delivery, { receiptId }, deps));
  return {
    receipt: receipt !== null && receipt.bytes <= maxReceiptBytes ? receipt : null,
    changes: hasChanges
      ? await readOrNull(() =>
          performed(compared, { instanceId, to: lastSuccess.instanceId }, deps),
        )
      : null,
  };
}

async function runOrNull(instanceId: string, deps: GatewayDeps): Promise<RunView | null> {
  try {
    return await performed("GET /api/runs/:instanceId", { instanceId }, deps);
  } catch (error) {
    if (hasCode(error, "unknown_instance")) return null;
    throw error;
  }
}
