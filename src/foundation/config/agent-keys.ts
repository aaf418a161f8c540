import { z } from "zod";
import type { AgentConfig, Param } from "../../../streams/agent-config.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { counted } from "../contracts/format.ts";
import { hooksKey, harnessKey } from "./harness.ts";
import { localKey } from "./agent-local.ts";
import { modelsKey } from "./agent-models.ts";
import { runtimeKey } from "./agent-runtime.ts";
import { webhooksKey } from "./webhook-bindings.ts";
import { alertKey } from "./alert-options.ts";
import { approveKey } from "./approve.ts";
import { budgetKey } from "./budget.ts";
import { agentKey, fact, factOf, maskUserInfo, type AgentKey } from "./config-key.ts";
import { expectKey } from "./expect.ts";
import {
  choice,
  runCredential,
  flag,
  integer,
  list,
  maxTimerSeconds,
  tags,
  text,
  timezone,
} from "./fields.ts";
import { heartbeatKey } from "./heartbeat.ts";
import { fileSchema } from "./key-table.ts";
import { mcpKey } from "./mcp.ts";
import { networkKey } from "./network.ts";
import { fiveFields } from "./schedule.ts";

const catchUps = ["none", "latest"] as const;
const param = z.union([z.string(), z.number(), z.boolean()]);
const paramError = "text, a number, true, false, or a list of these";

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
  schedule: agentKey({
    inFile: "schedule",
    field: z
      .string({ error: 'a cron expression with five fields, e.g. "0 9 * * *"' })
      .optional()
      .describe(
        "When the agent runs on its own. @hourly, @daily, @weekly, @monthly and @yearly are accepted.",
      ),
    resolve: (given) => (given === undefined ? null : fiveFields(given)),
    value: z.string().nullable(),
    facts: (schedule, { scheduleText, config }) =>
      schedule === null
        ? []
        : factOf("Schedule", [
            schedule,
            ...(scheduleText === null ? [] : [scheduleText]),
            `time zone ${config.timezone}`,
          ]),
  }),
  timezone: agentKey({
    inFile: "timezone",
    field: timezone()
      .optional()
      .meta({ description: "Time zone of the schedule.", fallback: "the project's `timezone`" }),
    resolve: (given, { project }) => given ?? project.timezone,
    value: z.string(),
  }),
  catchUp: agentKey({
    inFile: "catchUp",
    field: choice(catchUps)
      .default("none")
      .describe(
        'What to do about scheduled runs missed while the scheduler was down: skip them ("none") or run once ("latest").',
      ),
    resolve: (given) => given,
    value: z.enum(catchUps),
    facts: (given) =>
      fact("Missed ticks", given === "latest" ? "one run for the latest of them" : null),
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
      .describe(
        "Maximum number of concurrent runs of the agent; 0 disables the agent. A scheduled run is skipped while all of them are busy.",
      ),
    resolve: (given) => given,
    value: z.int(),
    facts: (scale) => fact("Runs at once", scale === 0 ? "0, which disables it" : String(scale)),
  }),
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
  hooks: hooksKey,
  params: agentKey({
    inFile: "params",
    field: z
      .record(z.string(), z.union([param, z.array(param)], { error: paramError }), {
        error: "a table",
      })
      .default({})
      .describe("Values of your choice. They are added to the agent's prompt as they are."),
    resolve: (given): Readonly<Record<string, Param | readonly Param[]>> => given,
    value: z.record(z.string(), z.union([param, z.array(param).readonly()])),
    isLong: true,
    facts: (params) =>
      Object.entries(params).flatMap(([name, value]) =>
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
