import { z } from "zod";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";
import { counted } from "../../foundation/contracts/format.ts";
import { operationsOf } from "../../foundation/operation.ts";
import type { AlertOperations } from "./alert-operations.ts";
import {
  ackRequestSchema,
  allRetriedSchema,
  alertsQuerySchema,
  alertsReportSchema,
  deliveryParams,
  retriedSchema,
  targetParams,
  testedSchema,
} from "./alerts-report.ts";

export interface AlertContext {
  readonly alerts: AlertOperations;
}

const { read, change } = operationsOf<AlertContext>("Alerts");

export const listAlerts = read("/api/alerts", {
  summary: "Alert targets, open problems and deliveries",
  description:
    "`deliveries` has an entry for each alert and target, newest first; `before` takes the `next` of an earlier page.",
  input: alertsQuerySchema,
  output: alertsReportSchema,
  changedBy: ["alerts"],
  problems: [503],
  isAbout: () => true,
  perform: (query, { alerts }, { isMine }) => {
    const report = alerts.page(query);
    // The targets count alerts about all agents.
    return isMine === null ? report : { ...report, targets: [] };
  },
});

export const acknowledgeAlerts = change("/api/alerts/ack", {
  summary: "Acknowledge or snooze the open alerts of an agent or the project",
  description: "No reminders are sent until it is resolved, or until `until`.",
  input: ackRequestSchema,
  output: z.object({ success: z.literal(true), agent: nullableText }),
  scope: "control",
  isAbout: ({ agent }, isMine) => isMine(agent),
  audit: ({ agent, undo = false, until }) => ({
    act: "ack",
    agent,
    detail: undo ? "undone" : until && `until ${until}`,
  }),
  problems: [404, 503],
  perform: async (request, { alerts }, { by }) => {
    const name = by.via === "login" ? "the dashboard" : "the API";
    await alerts.acknowledge({ by: name, ...request });
    return { success: true as const, agent: request.agent };
  },
});

export const retryAlert = change("/api/alerts/:id/retry", {
  summary: "Send an abandoned alert again, or a waiting one now",
  description:
    "It keeps its ID, so that a receiver can drop a duplicate. An abandoned alert gets as many attempts as a new one.",
  params: deliveryParams,
  output: retriedSchema,
  status: 202,
  scope: "control",
  audit: ({ id }) => ({ act: "alert-retry", detail: id }),
  problems: [404, 503],
  perform: async ({ id }, { alerts }) => {
    await alerts.retry(id);
    return { success: true as const, id };
  },
});

export const retryAlerts = change("/api/alerts/retry", {
  summary: "Send all abandoned alerts again",
  output: allRetriedSchema,
  status: 202,
  scope: "control",
  audit: (_input, { retried }) => ({ act: "alert-retry", detail: counted(retried, "alert") }),
  problems: [503],
  perform: async (_input, { alerts }) => ({
    success: true as const,
    retried: await alerts.retryAll(),
  }),
});

export const testAlertTarget = change("/api/alerts/targets/:name/test", {
  summary: "Send a test to a target, now",
  description:
    "The target's answer is returned, within 15 s. A target that was off is on again once it accepts a test.",
  params: targetParams,
  output: testedSchema,
  scope: "control",
  isAbout: () => false,
  audit: ({ name }) => ({ act: "alert-test", detail: name }),
  problems: [404, 503],
  perform: ({ name }, { alerts }) => alerts.test(name),
});
