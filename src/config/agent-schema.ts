import { z } from "zod";
import { defaultRuntime, runtimes, runtimeTypes } from "../../streams/runtimes.ts";
import {
  choice,
  credential,
  flag,
  integer,
  list,
  maxTimerSeconds,
  memorySize,
  network,
  pattern,
  processors,
  table,
  text,
  texts,
  timezone,
} from "./fields.ts";
import { harnessSchema } from "./harness-schema.ts";

const modelNames = 'a list with at least one name of the project\'s [models.<name>], e.g. ["main"]';

const whereError = 'a table of paths and values, e.g. { "issue.level" = "fatal" }';
const whereValue = z.union([z.string(), z.number(), z.boolean()], {
  error: 'text, a number, true or false; a path is one key in quotes, e.g. "issue.level"',
});
const maxWherePaths = 32;

/** Its filter fields depend on the source's type, which the project's config tells. */
export const webhookSchema = z.looseObject(
  {
    source: text("the name of a webhook source of the project").describe(
      "Whose deliveries start the agent. All filters beside it must match.",
    ),
    where: z
      .record(pattern(/^[^.]+(\.[^.]+)*$/, 'a path such as "issue.level"'), whereValue, {
        error: whereError,
      })
      .refine((where) => Object.keys(where).length <= maxWherePaths, {
        error: `at most ${maxWherePaths} paths`,
      })
      .optional()
      .describe(
        "Values that the payload must have, by dotted paths in it; a number in a path is an index of a list.",
      ),
  },
  { error: "tables [[webhooks]]" },
);

const commands = texts().default([]);
const hooksSchema = table({
  pre: commands.describe("Run before the session. One that fails ends the run, and that fails."),
  post: commands.describe(
    "Run after the session, also after one that failed, was ended or ran out of time; AL_OUTCOME has which. One that fails makes the run fail.",
  ),
});

const runtimeSchema = table({
  type: choice(runtimeTypes)
    .default(defaultRuntime)
    .describe(
      `A run is a process ${runtimeTypes.map((type) => runtimes[type].summary).join(", or ")}.`,
    ),
  run_as: pattern(
    /^(\$USER|[A-Za-z_][A-Za-z0-9_.-]{0,31})$/,
    'the name of an OS user, or "$USER" for the one that runs the scheduler',
  )
    .default("al-agent")
    .describe("The OS user of a host-user agent; $USER isolates nothing from you."),
});

const variable = pattern(
  /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
  "letters, digits and _, and no digit at the beginning",
);

const localSchema = table({
  memory: memorySize()
    .optional()
    .describe(
      "What a container of it may use, without swap; what is written to its folders counts.",
    ),
  cpus: processors().optional().describe("Processors that a container of it may use."),
  network: network().optional().describe("What its containers are connected to."),
  env: z
    .record(variable, z.string({ error: "text in quotes" }), {
      error: 'a table of variables, e.g. { LOG_LEVEL = "debug" }',
    })
    .default({})
    .describe(
      "Variables of its commands and hooks, in every runtime. They are no secrets: those are credentials.",
    ),
});

const paramError = "text or a list of texts";

/** An agent's `config.toml`. */
export const agentSchema = table({
  source: text().optional().describe("Where al add took the agent from."),
  sourceCommit: text()
    .optional()
    .describe("The commit that it was taken from; al update moves it on."),
  models: list(text(), modelNames)
    .min(1, { error: modelNames })
    .describe("The first is asked; the others when it is rate-limited or down."),
  harness: harnessSchema
    .default({})
    .describe("What talks to the model inside a run; goes before the project's."),
  credentials: list(credential(), 'a list of credentials, e.g. ["github_token"] or []').describe(
    "What its runs get, as variables and files.",
  ),
  schedule: z
    .string({ error: 'a cron expression with five fields, e.g. "0 9 * * *"' })
    .optional()
    .describe(
      "When it runs by itself. @hourly, @daily, @weekly, @monthly and @yearly are short for five fields.",
    ),
  timezone: timezone().optional().describe("The clock of its schedule. Without it the project's."),
  catchUp: choice(["none", "latest"])
    .default("none")
    .describe(
      "What is done about ticks that were missed while no scheduler was up: nothing, or the latest is made up for.",
    ),
  callable: flag()
    .default(false)
    .describe(
      "true for an agent without schedule and webhooks: other agents call it, or people start it.",
    ),
  scale: integer("concurrent runs", 0)
    .default(1)
    .describe("How many of its runs may live at once; 0 disables the agent."),
  timeout: integer("seconds", 1, maxTimerSeconds)
    .optional()
    .describe("How long a run may take. Without it [local].timeout of the project."),
  maxWorkQueueSize: integer("work items", 1)
    .optional()
    .describe(
      "How much work waits for it; what is more drops the oldest. Without it workQueueSize of the project.",
    ),
  waitTimeout: integer("seconds", 1, maxTimerSeconds)
    .optional()
    .describe(
      "How long its runs wait for a trigger. Without it defaultWaitTimeout of the project.",
    ),
  webhooks: list(webhookSchema, "tables [[webhooks]]")
    .default([])
    .describe("Deliveries that start it."),
  hooks: hooksSchema
    .prefault({})
    .describe("Shell commands around the session, in the run's own environment."),
  params: z
    .record(z.string(), z.union([z.string(), z.array(z.string())], { error: paramError }), {
      error: "a table",
    })
    .default({})
    .describe("Whatever you like; handed to the agent in its prompt."),
  runtime: runtimeSchema.prefault({}).describe("Where its runs are processes."),
  local: localSchema
    .prefault({})
    .describe("What goes before [local] of the project; but for env, for containers only."),
});
export type AgentTable = z.output<typeof agentSchema>;
