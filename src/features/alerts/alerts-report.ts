import { z } from "zod";
import { nullableText, pageSize } from "../../foundation/contracts/wire-fields.ts";
import { alertPhases, alertTopics, deliveryStates, lastingTopics } from "./rules/alert.ts";
import { alertTargetTypes } from "../../../streams/alert-options.ts";

const maxPage = 200;

/** Query of `GET /api/alerts`. */
export const alertsQuerySchema = z.object({
  state: z.enum(deliveryStates).optional().meta({ description: "Only deliveries in this state" }),
  target: z.string().optional().meta({ description: "Only deliveries to this target" }),
  before: z.string().optional().meta({ description: "The `next` of an earlier page" }),
  limit: pageSize(maxPage, 50),
});
export type AlertsQuery = Readonly<z.infer<typeof alertsQuerySchema>>;

const time = z.iso.datetime();
const lastError = nullableText.meta({
  description: "Why the last attempt failed; null when it was accepted",
});

const targetSchema = z
  .object({
    name: z.string(),
    type: z.enum(alertTargetTypes),
    state: z.enum(["ok", "failing", "off"]).meta({
      description:
        "`off` after the target refused everything permanently; a test that it accepts switches it on again",
    }),
    waiting: z.int().meta({ description: "Deliveries that will be sent" }),
    dead: z.int().meta({ description: "Abandoned deliveries" }),
    lastError,
    offSince: time.nullable(),
  })
  .meta({ id: "AlertTarget" });
/** One `[alerts.<name>]` and its state. */
export type AlertTargetView = Readonly<z.infer<typeof targetSchema>>;

const agent = nullableText.meta({ description: "Null for the project as a whole" });
const topic = z.enum(alertTopics);
const reason = nullableText.meta({ description: "Why, in one line" });

const ackSchema = z
  .object({
    by: z.string().meta({ description: "The name that was given" }),
    at: time,
    until: time.nullable().meta({ description: "When it is repeated; null: not until resolved" }),
  })
  .meta({ id: "AlertAcknowledgement" });

const openSchema = z
  .object({
    agent,
    topic,
    since: time,
    count: z.int().meta({ description: "Failures in a row" }),
    reason,
    ack: ackSchema.nullable().meta({ description: "Set while no reminders are sent" }),
  })
  .meta({ id: "OpenAlert" });
/** A fault that lasts. */
export type OpenAlertView = Readonly<z.infer<typeof openSchema>>;

const deliverySchema = z
  .object({
    id: z.uuid().meta({ description: "ID, the same at each attempt" }),
    at: time.meta({ description: "When the event happened" }),
    target: z.string(),
    agent,
    topic,
    phase: z.enum(alertPhases),
    title: z.string().meta({ description: "The alert in one line" }),
    reason,
    alerts: z
      .array(z.string())
      .readonly()
      .optional()
      .meta({ description: "The alerts of a digest, a line each; absent for other alerts" }),
    instanceId: nullableText.meta({ description: "The run that it is about" }),
    state: z.enum(deliveryStates).meta({
      description: "`dead` after the last attempt, until it is retried",
    }),
    attempts: z.int(),
    nextAt: time.nullable().meta({ description: "When it is sent next; null unless it waits" }),
    lastError,
    endedAt: time
      .nullable()
      .meta({ description: "When it was accepted or abandoned; null while it waits" }),
  })
  .meta({ id: "AlertDelivery" });
/** One alert on its way to one target. */
export type AlertDeliveryView = Readonly<z.infer<typeof deliverySchema>>;

/** The answer of `GET /api/alerts`. */
export const alertsReportSchema = z
  .object({
    targets: z.array(targetSchema).readonly(),
    open: z.array(openSchema).readonly().meta({ description: "What is wrong now" }),
    deliveries: z.array(deliverySchema).readonly().meta({ description: "Newest first" }),
    next: nullableText.meta({ description: "`before` of the next page; null for none" }),
  })
  .meta({ id: "AlertsReport" });
export type AlertsReport = Readonly<z.infer<typeof alertsReportSchema>>;

/** Body of `POST /api/alerts/ack`. */
export const ackRequestSchema = z.strictObject({
  agent,
  topic: z.enum(lastingTopics).optional().meta({ description: "Default: all open alerts" }),
  until: time.optional().meta({ description: "Repeat it then. Default: not until resolved" }),
  by: z.string().trim().min(1).max(80).optional().meta({ description: "Who takes care of it" }),
  undo: z.literal(true).optional().meta({ description: "Send reminders again" }),
});
export type AckRequest = Readonly<z.infer<typeof ackRequestSchema>>;

/** Path of `POST /api/alerts/<id>/retry`. */
export const deliveryParams = z.object({
  id: z.string().max(200).meta({ description: "A delivery's `id`" }),
});

/** The answer of `POST /api/alerts/<id>/retry`. */
export const retriedSchema = z
  .object({ success: z.literal(true), id: z.string() })
  .meta({ id: "AlertRetried" });

/** The answer of `POST /api/alerts/retry`. */
export const allRetriedSchema = z
  .object({
    success: z.literal(true),
    retried: z.int().meta({ description: "How many abandoned deliveries are due now" }),
  })
  .meta({ id: "AlertsRetried" });
export type AlertsRetried = Readonly<z.infer<typeof allRetriedSchema>>;

/** Path of `POST /api/alerts/targets/<name>/test`. */
export const targetParams = z.object({
  name: z.string().max(200).meta({ description: "Name of a target, `[alerts.<name>]`" }),
});

/** The answer of `POST /api/alerts/targets/<name>/test`. */
export const testedSchema = z
  .object({
    accepted: z.boolean(),
    error: nullableText.meta({ description: "Why it was not accepted" }),
  })
  .meta({ id: "AlertTested" });
export type AlertTested = Readonly<z.infer<typeof testedSchema>>;
