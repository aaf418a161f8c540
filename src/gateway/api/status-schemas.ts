import { z } from "zod";
import { runtimeTypes } from "../../../streams/runtimes.ts";
import { outcomes } from "../../../streams/vocabulary.ts";
import { describing } from "./describing.ts";
import type {
  AgentStatus,
  LockClaim,
  RecentLog,
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../streams/status/wire.ts";

const time = z.iso.datetime();
const level = z.literal([10, 20, 30, 40, 50, 60]).meta({ description: "pino's numbers" });

const agentSchema = describing<AgentStatus>(
  z.object({
    name: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    license: z.string().nullable(),
    state: z.enum(["idle", "running", "building", "error"]),
    statusText: z.string().nullable(),
    error: z.string().nullable(),
    warning: z.string().nullable().meta({ description: "What is wrong and stops no run" }),
    enabled: z.boolean(),
    lastRunAt: time.nullable(),
    lastDurationMs: z.number().nullable(),
    lastOutcome: z.enum(outcomes).nullable(),
    nextRunAt: time.nullable(),
    running: z.int(),
    scale: z.int(),
    queued: z.int(),
    queueSize: z.int(),
    triggers: z.array(z.string()).readonly(),
    runtime: z.enum(runtimeTypes),
    models: z.array(z.string()).readonly(),
  }),
).meta({ id: "Agent" });

const schedulerSchema = describing<SchedulerStatus>(
  z.object({
    paused: z.boolean(),
    draining: z.boolean().meta({ description: "It stops, and lets runs finish" }),
    startedAt: time,
    version: z.string(),
    project: z.string(),
    gatewayUrl: z.string().nullable(),
    running: z.int(),
    cronJobs: z.int(),
    webhookSources: z.array(z.string()).readonly(),
    error: z.string().nullable(),
    warnings: z
      .array(z.string())
      .readonly()
      .meta({ description: "Directories that are no agents yet, though each holds a skill" }),
  }),
).meta({ id: "Scheduler" });

const recentLogSchema = describing<RecentLog>(
  z.object({
    seq: z.int(),
    time,
    level,
    agent: z.string(),
    instanceId: z.string().nullable(),
    msg: z.string(),
  }),
).meta({ id: "RecentLog" });

const claimId = { resource: z.string(), instanceId: z.string() };
const claimSchema = describing<LockClaim>(
  z.object({
    ...claimId,
    agent: z.string(),
    held: z.boolean().meta({ description: "False while the run waits for it" }),
    since: time,
    expiresAt: time.nullable(),
  }),
).meta({ id: "LockClaim" });

/** The status stream's first event, and `GET /control/status`. */
export const snapshotSchema = describing<StatusSnapshot>(
  z.object({
    scheduler: schedulerSchema,
    agents: z.array(agentSchema).readonly(),
    recentLogs: z.array(recentLogSchema).readonly(),
    locks: z.array(claimSchema).readonly(),
  }),
).meta({ id: "StatusSnapshot" });

/** The status stream's later events: only what changed. */
export const updateSchema = describing<StatusUpdate>(
  z.object({
    scheduler: z.exactOptional(schedulerSchema),
    agents: z.exactOptional(z.array(agentSchema).readonly()),
    removed: z.exactOptional(z.array(z.string()).readonly()),
    logs: z.exactOptional(z.array(recentLogSchema).readonly()),
    locks: z.exactOptional(z.array(claimSchema).readonly()),
    unlocked: z.exactOptional(z.array(z.object(claimId)).readonly()),
  }),
).meta({ id: "StatusUpdate" });

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
