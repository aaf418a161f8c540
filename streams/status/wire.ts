import { outcomes } from "../outcomes.ts";
import { z } from "zod";
import { onLimits } from "../agent-config.ts";
import { runtimeTypes } from "../runtimes.ts";

/** The status on the wire: each schema is described in the API's documentation, and each type is made from it. */
const nullableText = z.string().nullable();
const time = z.iso.datetime();
const texts = z.array(z.string()).readonly();
const level = z.literal([10, 20, 30, 40, 50, 60]).meta({ description: "pino's numbers" });

const usedBudgetSchema = z
  .object({
    scope: z.string().meta({ description: "`project` or `agent:<name>`" }),
    window: z.string().meta({ description: "A day (`2026-11-22`) or a month (`2026-11`)" }),
    endsAt: time.meta({ description: "When the window ends" }),
    usd: z.number().meta({ description: "US dollars spent" }),
    limit: z.number().meta({ description: "US dollars, including raises" }),
    needed: z.exactOptional(
      z.number().meta({ description: "Minimum cost of the rejected call, in US dollars" }),
    ),
    onLimit: z.enum(onLimits).meta({ description: "Whether its work waits or is rejected" }),
  })
  .readonly()
  .meta({ id: "UsedBudget" });

export const agentSchema = z
  .object({
    name: z.string(),
    title: z.string(),
    description: nullableText,
    license: nullableText,
    state: z
      .enum(["idle", "running", "building", "waiting", "blocked", "error"])
      .meta({ description: "`blocked`: its runs can't start; `waiting`: its runs wait" }),
    blockedBy: z
      .enum(["machine", "requirement", "image", "budget", "lock", "person"])
      .nullable()
      .meta({
        description:
          "Why it is blocked or waiting; a `requirement` is a credential, a model or a command",
      }),
    statusText: nullableText,
    error: nullableText,
    /** For example a fallback model without its key. */
    warning: nullableText.meta({ description: "Problems that stop no run" }),
    enabled: z.boolean(),
    lastRunAt: time.nullable(),
    lastDurationMs: z.number().nullable(),
    lastOutcome: z.enum(outcomes).nullable(),
    nextRunAt: time.nullable(),
    running: z.int(),
    runningUsd: z.number().nullable().meta({
      description: "US dollars spent by its running runs; null before their first call to a model",
    }),
    spentToday: z
      .object({ usd: z.number(), endsAt: time.meta({ description: "When the day ends" }) })
      .readonly()
      .nullable()
      .meta({ description: "US dollars spent today, in the project's time zone; null for none" }),
    usedBudget: usedBudgetSchema
      .nullable()
      .meta({ description: "The used-up budget that holds its work; null if it can run" }),
    scale: z.int(),
    queued: z.int(),
    gathering: z.exactOptional(
      z
        .object({
          deliveries: z.int(),
          startsAt: time.meta({ description: "When the first of the runs starts" }),
        })
        .readonly()
        .meta({ description: "Deliveries that gather for a run; absent while none does" }),
    ),
    queueSize: z.int(),
    triggers: texts.meta({
      description: "Its triggers: `schedule 0 9 * * *`, `webhook github`, `call`",
    }),
    tags: texts.meta({ description: "Tags from its config" }),
    runtime: z.enum(runtimeTypes),
    models: texts,
  })
  .meta({ id: "Agent" });
/** One agent: the row of the dashboard. Times are ISO 8601 UTC. */
export type AgentStatus = Readonly<z.infer<typeof agentSchema>>;
export type AgentState = AgentStatus["state"];

export const schedulerSchema = z
  .object({
    paused: z.boolean().meta({ description: "Scheduled runs are skipped" }),
    pausedWork: z
      .boolean()
      .meta({ description: "All new work waits; `paused` is then true as well" }),
    pausedAt: time.nullable().meta({ description: "Since when; null while nothing is paused" }),
    draining: z.boolean().meta({ description: "Stopping: running runs may finish" }),
    startedAt: time,
    version: z.string(),
    /** The project directory's name. */
    project: z.string(),
    gatewayUrl: nullableText,
    running: z.int(),
    cronJobs: z.int(),
    webhookSources: texts,
    /** The problem of the project's config.toml while the last valid one stays active. */
    error: nullableText,
    warnings: texts.meta({ description: "Directories that hold a skill but are not agents yet" }),
    alerts: z
      .object({
        open: z.int().meta({ description: "Open alerts" }),
        dead: z.int().meta({ description: "Abandoned deliveries of alerts" }),
      })
      .readonly(),
    questions: z.int().meta({ description: "Open questions of runs" }),
  })
  .meta({ id: "Scheduler" });
export type SchedulerStatus = Readonly<z.infer<typeof schedulerSchema>>;

const recentLogSchema = z
  .object({
    /** Increases by one per line, from 1 at each start of the scheduler: readers skip known lines. */
    seq: z.int(),
    time,
    level,
    agent: z.string(),
    instanceId: nullableText,
    msg: z.string(),
  })
  .meta({ id: "RecentLog" });
/** A log line on the status stream, its text cut to 500 characters. */
export type RecentLog = Readonly<z.infer<typeof recentLogSchema>>;

const claimId = {
  /** A URI. */
  resource: z.string(),
  instanceId: z.string(),
};
const claimSchema = z
  .object({
    ...claimId,
    agent: z.string(),
    held: z.boolean().meta({ description: "False while the run waits for it" }),
    since: time,
    /** Null while the run waits. */
    expiresAt: time.nullable(),
  })
  .meta({ id: "LockClaim" });
/** A run that holds a resource, or waits for it. */
export type LockStatus = Readonly<z.infer<typeof claimSchema>>;
/** The key of a claim. */
export type LockStatusId = Pick<LockStatus, "resource" | "instanceId">;

/** Wire event `snapshot`: everything, once at connect; also `GET /control/status`. */
export const snapshotSchema = z
  .object({
    scheduler: schedulerSchema,
    agents: z.array(agentSchema).readonly(),
    recentLogs: z.array(recentLogSchema).readonly(),
    locks: z.array(claimSchema).readonly(),
  })
  .meta({ id: "StatusSnapshot" });
export type StatusSnapshot = Readonly<z.infer<typeof snapshotSchema>>;

/** Lists that are too long for the status: pages read them again when an update names them. */
export const statusLists = ["triggers", "questions", "alerts", "audit"] as const;
export type StatusList = (typeof statusLists)[number];

/** Wire event `update`: only what changed since the last event; `locks` are claims that are new or changed. */
export const updateSchema = z
  .object({
    scheduler: z.exactOptional(schedulerSchema),
    agents: z.exactOptional(z.array(agentSchema).readonly()),
    removed: z.exactOptional(texts),
    logs: z.exactOptional(z.array(recentLogSchema).readonly()),
    locks: z.exactOptional(z.array(claimSchema).readonly()),
    unlocked: z.exactOptional(z.array(z.object(claimId)).readonly()),
    changed: z.exactOptional(
      z
        .array(z.enum(statusLists))
        .readonly()
        .meta({ description: "Lists with rows that are new or changed" }),
    ),
  })
  .meta({ id: "StatusUpdate" });
export type StatusUpdate = Readonly<z.infer<typeof updateSchema>>;

/** One entry of a log stream: a log file's line in pino's shape. */
export const logEntrySchema = z
  .looseObject({
    level,
    time: z.number().meta({ description: "Epoch ms" }),
    msg: z.string(),
    agent: z.string(),
    instanceId: z.string().optional(),
  })
  .meta({ id: "LogEntry" });
