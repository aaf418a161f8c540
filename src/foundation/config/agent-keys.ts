import { z } from "zod";
import {
  maxSlots,
  overlaps,
  type AgentConfig,
  type Params,
} from "../../../streams/agent-config.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { counted } from "../contracts/format.ts";
import { hooksKey, harnessKey } from "./harness.ts";
import { localKey } from "./agent-local.ts";
import { modelsKey } from "./agent-models.ts";
import { runtimeKey } from "./agent-runtime.ts";
import { webhooksKey } from "./webhook-bindings.ts";
import { workspaceKey } from "./workspace.ts";
import { alertKey } from "./alert-options.ts";
import { approveKey } from "./approve.ts";
import { artifactsKey } from "./artifacts.ts";
import { budgetKey } from "./budget.ts";
import { concurrencyKey } from "./concurrency.ts";
import { agentKey, fact, factOf, maskUserInfo, type AgentKey } from "./config-key.ts";
import { debounceKey } from "./debounce.ts";
import { expectKey } from "./expect.ts";
import {
  choice,
  runCredential,
  flag,
  integer,
  list,
  maxTimerSeconds,
  params,
  paramsValue,
  tags,
  text,
  timezone,
} from "./fields.ts";
import { githubAppKey } from "./github-app.ts";
import { heartbeatKey } from "./heartbeat.ts";
import { fileSchema } from "./key-table.ts";
import { mcpKey } from "./mcp.ts";
import { memoryKey } from "./memory.ts";
import { networkKey } from "./network.ts";
import { sessionKey } from "./session.ts";
import { fiveFields } from "./schedule.ts";
import { cronError, scheduleFacts, schedulesKey } from "./schedules.ts";

const catchUps = ["none", "latest", "all"] as const;

/**
 * The keys of an agent's config. This table, in its order, gives the file's schema and reference page, the resolved
 * values with their fallbacks, the output of `al config`, the description of a change, the API's schema and the facts on
 * the agent's page. A new key is an entry here, in AgentConfig, and its reader.
 */
export const agentKeys = {
  name: { value: z.string() },
  title: { label: "name", value: z.string() },
  description: { value: z.string().nullable(), isLong: true },
  instructions: { label: "SKILL.md", value: z.string(), isLong: true },
  models: modelsKey,
  harness: harnessKey,
  credentials: agentKey({
    inFile: "credentials",
    field: list(runCredential(), 'a list of credentials, e.g. ["github_token"] or []').describe(
      "Credentials that runs receive, as environment variables and files.",
    ),
    resolve: (given): readonly string[] => given,
    value: z.array(z.string()).readonly(),
    facts: (names) => factOf("Credentials", names),
  }),
  githubApp: githubAppKey,
  schedule: agentKey({
    inFile: "schedule",
    field: z
      .string({ error: cronError })
      .optional()
      .describe(
        "When the agent runs on its own. @hourly, @daily, @weekly, @monthly and @yearly are accepted. With both a day of month and a day of week, it runs on days that match either, also for steps such as `*/2`, where other crons require both.",
      ),
    resolve: (given) => (given === undefined ? null : fiveFields(given)),
    value: z.string().nullable(),
    facts: (expression, { describe, config: { timezone: zone } }) => {
      if (expression === null) return [];
      const schedule = { expression, timezone: zone, calendar: null };
      return factOf("Schedule", scheduleFacts(schedule, describe(expression)));
    },
  }),
  schedules: schedulesKey,
  timezone: agentKey({
    inFile: "timezone",
    field: timezone()
      .optional()
      .meta({ description: "Time zone of the schedule.", fallback: "the project's `timezone`" }),
    resolve: (_given, context) => context.timezone,
    value: z.string(),
  }),
  catchUp: agentKey({
    inFile: "catchUp",
    field: choice(catchUps)
      .default("none")
      .describe(
        'What to do about scheduled runs missed while the scheduler was down: skip them ("none"), run once ("latest"), or start each of them, one after another ("all"). `al backfill` starts missed runs later.',
      ),
    resolve: (given) => given,
    value: z.enum(catchUps),
    facts: (given, { config }) =>
      fact(
        "Missed ticks",
        {
          none: null,
          latest: "one run for the latest of them",
          all: `a run for each of the latest ${config.catchUpMost}`,
        }[given],
      ),
  }),
  catchUpMost: agentKey({
    inFile: "catchUpMost",
    field: integer("missed runs", 1, maxSlots)
      .default(24)
      .describe(
        'How many missed runs `catchUp = "all"` starts at most; the oldest ones beyond it are skipped.',
      ),
    resolve: (given) => given,
    value: z.int(),
    // The default is left out, so that versions of runs from before this key stay the same.
    canonical: (given) => (given === 24 ? null : given),
  }),
  overlap: agentKey({
    inFile: "overlap",
    field: choice(overlaps)
      .default("skip")
      .describe(
        'What a scheduled run does while all runners of the agent are busy: it is skipped with a warning ("skip"), or it waits for one ("wait"). At most one run of a schedule waits; a later one takes its place.',
      ),
    resolve: (given) => given,
    value: z.enum(overlaps),
    // The default is left out, so that versions of runs from before this key stay the same.
    canonical: (given) => (given === "skip" ? null : given),
    facts: (given) => fact("Ticks while busy", given === "wait" ? "wait for a runner" : null),
  }),
  callable: agentKey({
    inFile: "callable",
    field: flag()
      .default(false)
      .describe(
        "Set to true for an agent without schedule and webhooks, which other agents call or people start.",
      ),
    resolve: (given) => given,
    value: z.boolean().meta({ description: "It needs neither a schedule nor webhooks" }),
    facts: (isCallable) =>
      fact("Started by", isCallable ? "calls of other agents, and people" : null),
  }),
  tags: agentKey({
    inFile: "tags",
    field: tags()
      .default([])
      .describe(
        "Labels for grouping and filtering agents in the dashboard and with `al stat --tag`.",
      ),
    resolve: (given): readonly string[] => [...new Set(given)],
    value: z.array(z.string()).readonly(),
    // Labels do not affect a run, so its version omits them.
    canonical: () => null,
    facts: (names) => factOf("Tags", names),
  }),
  scale: agentKey({
    inFile: "scale",
    field: integer("concurrent runs", 0)
      .default(1)
      .describe("Maximum number of concurrent runs of the agent; 0 disables the agent."),
    resolve: (given) => given,
    value: z.int(),
    facts: (scale) => fact("Runs at once", scale === 0 ? "0, which disables it" : String(scale)),
  }),
  concurrency: concurrencyKey,
  session: sessionKey,
  timeoutSeconds: agentKey({
    inFile: "timeout",
    field: integer("seconds", 1, maxTimerSeconds).optional().meta({
      description: "Maximum duration of a run.",
      fallback: "the project's `[local].timeout`",
    }),
    resolve: (given, { project }) => given ?? project.local.timeoutSeconds,
    value: z.number(),
    facts: (seconds) => fact("Timeout", durationText(seconds * 1000)),
  }),
  budget: budgetKey,
  queueSize: agentKey({
    inFile: "maxWorkQueueSize",
    field: integer("work items", 1).optional().meta({
      description:
        "Maximum length of the agent's queue. When the queue is full, the oldest item is dropped.",
      fallback: "the project's `workQueueSize`",
    }),
    resolve: (given, { project }) => given ?? project.workQueueSize,
    value: z.int(),
    facts: (size) => fact("Queue", `holds ${counted(size, "work item")}`),
  }),
  waitTimeoutSeconds: agentKey({
    inFile: "waitTimeout",
    field: integer("seconds", 1, maxTimerSeconds).optional().meta({
      description: "How long a run may wait for a trigger.",
      fallback: "the project's `defaultWaitTimeout`",
    }),
    resolve: (given, { project }) => given ?? project.defaultWaitTimeoutSeconds,
    value: z.number(),
    facts: (seconds) => fact("Waits for a trigger", `up to ${durationText(seconds * 1000)}`),
  }),
  webhooks: webhooksKey,
  debounce: debounceKey,
  hooks: hooksKey,
  params: agentKey({
    inFile: "params",
    field: params().describe(
      "Values of your choice. They are added to the agent's prompt as they are.",
    ),
    resolve: (given): Params => given,
    value: paramsValue,
    isLong: true,
    facts: (values) =>
      Object.entries(values).flatMap(([name, value]) =>
        fact(`Param ${name}`, Array.isArray(value) ? value.join(", ") : String(value)),
      ),
  }),
  runtime: runtimeKey,
  local: localKey,
  network: networkKey,
  approve: approveKey,
  mcp: mcpKey,
  alert: alertKey,
  expect: expectKey,
  memory: memoryKey,
  artifactsBytes: artifactsKey,
  workspace: workspaceKey,
  heartbeat: heartbeatKey,
  source: agentKey({
    inFile: "source",
    field: text().optional().describe("Where `al add` got the agent from."),
    resolve: (given) => given ?? null,
    value: z.string().nullable(),
    canonical: (source, { mask }) => source && maskUserInfo(source, mask),
    facts: (source, { config: { sourceCommit } }) =>
      factOf(
        "Installed from",
        [source, sourceCommit].filter((text) => text !== null),
      ),
  }),
  sourceCommit: agentKey({
    inFile: "sourceCommit",
    field: text()
      .optional()
      .describe("The commit that the agent was copied from. `al update` changes it."),
    resolve: (given) => given ?? null,
    value: z.string().nullable(),
  }),
  license: { value: z.string().nullable(), facts: (license) => fact("License", license) },
  compatibility: { value: z.string().nullable(), facts: (range) => fact("Compatible with", range) },
  dockerfileHash: { label: "files of its image", value: z.string().nullable(), isLong: true },
} satisfies { readonly [Key in keyof AgentConfig]: AgentKey<AgentConfig[Key]> };

/** An agent's `config.toml`. */
export const agentSchema = fileSchema(agentKeys);
export type AgentTable = z.output<typeof agentSchema>;
