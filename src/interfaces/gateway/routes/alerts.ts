import {
  ackRequestSchema,
  allRetriedSchema,
  alertsQuerySchema,
  alertsReportSchema,
  deliveryParams,
  retriedSchema,
  targetParams,
  testedSchema,
} from "../../../features/alerts/alerts-report.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { acknowledgedAnswer } from "../api/answers.ts";
import { emptyBody } from "../api/params.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";
import { limitOf } from "../token-limits.ts";

const { get, post } = routesOf("Alerts");

/** Lists alerts and their deliveries, acknowledges open alerts, and retries undelivered ones. */
export const alertRoutes = ({ operations }: GatewayDeps) => [
  get("/api/alerts", {
    summary: "The targets of alerts, what is wrong now, and the deliveries",
    description:
      "`deliveries` has an entry for each alert and target, newest first; `before` takes the `next` of an earlier page.",
    query: alertsQuerySchema,
    response: { 200: alertsReportSchema },
    isAbout: () => true,
    problems: [503],
    handle: (request) => {
      const report = operations.alerts(request.query);
      // The targets count alerts about all agents.
      return limitOf(request) === null ? report : { ...report, targets: [] };
    },
  }),
  post("/api/alerts/ack", {
    summary: "Acknowledge or snooze the open alerts of an agent or the project",
    description: "No reminders are sent until it is resolved, or until `until`.",
    body: ackRequestSchema,
    scope: "control",
    isAbout: ({ body }, isMine) => isMine(body.agent),
    response: { 200: acknowledgedAnswer },
    audit: ({ body: { agent, undo = false, until } }) => ({
      act: "ack",
      agent,
      detail: undo ? "undone" : until && `until ${until}`,
    }),
    problems: [404, 503],
    handle: async ({ body, caller }) => {
      const by = caller?.kind === "session" ? "the dashboard" : "the API";
      await operations.acknowledgeAlerts({ by, ...body });
      return { success: true as const, agent: body.agent };
    },
  }),
  post("/api/alerts/:id/retry", {
    summary: "Send an alert again that was given up, or now one that waits",
    description:
      "It keeps its id, so that a receiver that has it can drop it. What was given up is attempted as often as a new one.",
    params: deliveryParams,
    scope: "control",
    body: emptyBody,
    response: { 202: retriedSchema },
    audit: ({ params: { id } }) => ({ act: "alert-retry", detail: id }),
    problems: [404, 503],
    handle: async ({ params: { id } }) => {
      await operations.retryAlert(id);
      return { success: true as const, id };
    },
  }),
  post("/api/alerts/retry", {
    summary: "Send all alerts again that were given up",
    scope: "control",
    body: emptyBody,
    response: { 202: allRetriedSchema },
    audit: (_request, { retried }) => ({ act: "alert-retry", detail: counted(retried, "alert") }),
    problems: [503],
    handle: async () => ({ success: true as const, retried: await operations.retryDeadAlerts() }),
  }),
  post("/api/alerts/targets/:name/test", {
    summary: "Send a test to a target, now",
    description:
      "The answer is the target's own: it comes within 15 s. A target that was off is on again once it accepts a test.",
    params: targetParams,
    scope: "control",
    isAbout: () => false,
    body: emptyBody,
    response: { 200: testedSchema },
    audit: ({ params }) => ({ act: "alert-test", detail: params.name }),
    problems: [404, 503],
    handle: ({ params }) => operations.testAlertTarget(params.name),
  }),
];
