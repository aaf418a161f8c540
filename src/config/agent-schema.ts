import { z } from "zod";
import {
  choice,
  credential,
  integer,
  list,
  maxTimerSeconds,
  pattern,
  table,
  text,
  texts,
  timezone,
} from "./fields.ts";
import { harnessSchema } from "./harness-schema.ts";

const modelNames = 'a list with at least one name of the project\'s [models.<name>], e.g. ["main"]';

/** Its filter fields depend on the source's type, which the project's config tells. */
const webhookSchema = z.looseObject(
  { source: text("the name of a webhook source of the project") },
  { error: "tables [[webhooks]]" },
);

const commands = texts().default([]);
const hooksSchema = table({ pre: commands, post: commands });

const runtimeSchema = table({
  type: choice(["container", "host-user"]).default("container"),
  run_as: pattern(
    /^(\$USER|[A-Za-z_][A-Za-z0-9_.-]{0,31})$/,
    'the name of an OS user, or "$USER" for the one that runs the scheduler',
  ).default("al-agent"),
});

const paramError = "text or a list of texts";

/** An agent's `config.toml`. */
export const agentSchema = table({
  source: text().optional(),
  sourceCommit: text().optional(),
  models: list(text(), modelNames).min(1, { error: modelNames }),
  harness: harnessSchema.default({}),
  credentials: list(credential(), 'a list of credentials, e.g. ["github_token"] or []'),
  schedule: z.string({ error: 'a cron expression with five fields, e.g. "0 9 * * *"' }).optional(),
  timezone: timezone().optional(),
  catchUp: choice(["none", "latest"]).default("none"),
  scale: integer("concurrent runs", 0).default(1),
  timeout: integer("seconds", 1, maxTimerSeconds).optional(),
  maxWorkQueueSize: integer("work items", 1).optional(),
  waitTimeout: integer("seconds", 1, maxTimerSeconds).optional(),
  webhooks: list(webhookSchema, "tables [[webhooks]]").default([]),
  hooks: hooksSchema.prefault({}),
  params: z
    .record(z.string(), z.union([z.string(), z.array(z.string())], { error: paramError }), {
      error: "a table",
    })
    .default({}),
  runtime: runtimeSchema.prefault({}),
});
export type AgentTable = z.output<typeof agentSchema>;
