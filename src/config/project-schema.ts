import { z } from "zod";
import { providers, thinkingLevels } from "../../streams/vocabulary.ts";
import {
  choice,
  credential,
  credentialInstance,
  flag,
  integer,
  list,
  maxTimerSeconds,
  pattern,
  table,
  text,
  timezone,
} from "./fields.ts";
import { harnessSchema } from "./harness-schema.ts";

const mebibyte = 1024 ** 2;

const modelSchema = table({
  provider: choice(providers),
  model: text('the provider\'s name of the model, e.g. "claude-sonnet-4-5"').optional(),
  authType: choice(["api_key", "oauth_token", "none"]).optional(),
  thinkingLevel: choice(thinkingLevels).optional(),
  baseUrl: z.url({ protocol: /^https?$/, error: "an http or https URL" }).optional(),
  credential: credential().optional(),
  script: text("the path of a script file, relative to the project").optional(),
});
export type ModelTable = z.output<typeof modelSchema>;

const sourceSchema = table({
  type: text("a type of webhook source"),
  credential: credentialInstance().optional(),
  allowUnsigned: flag().default(false),
});

const localSchema = table({
  image: text("the name of an image").default("al-agent:latest"),
  memory: pattern(/^\d+(\.\d+)?[bkmgBKMG]?$/, 'a size, e.g. "512m" or "4g"').default("4g"),
  cpus: z
    .number({ error: "a number of processors above 0, e.g. 0.5 or 2" })
    .positive({ error: "a number of processors above 0, e.g. 0.5 or 2" })
    .default(2),
  timeout: integer("seconds", 1, maxTimerSeconds).default(900),
  network: text('"bridge", "none" or the name of a network').default("bridge"),
  base: text("the name of a local image").optional(),
  warm: integer("processes", 0, 1000).default(0),
});

const gatewaySchema = table({
  port: integer("", 0, 65_535).default(8080),
  host: text("a host name or address to listen on").default("127.0.0.1"),
  allowedHosts: list(text(), 'a list of host names, e.g. ["al.example.org"]').default([]),
  trustProxy: flag().default(false),
  maxBodyBytes: integer("bytes", 1024, 256 * mebibyte).default(mebibyte),
});

const name = pattern(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,62}$/, "letters, digits and . _ : / -");
const sourceName = pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "letters, digits and . _ -");

/** The project's `config.toml`, as the decisions' table has it. */
export const projectSchema = table({
  models: z.record(name, modelSchema, { error: "tables [models.<name>]" }).default({}),
  harness: harnessSchema.default({}),
  local: localSchema.prefault({}),
  gateway: gatewaySchema.prefault({}),
  webhooks: z.record(sourceName, sourceSchema, { error: "tables [webhooks.<source>]" }).default({}),
  workQueueSize: integer("work items", 1).default(100),
  defaultWaitTimeout: integer("seconds", 1, maxTimerSeconds).default(1800),
  resourceLockTimeout: integer("seconds", 1, maxTimerSeconds).default(1800),
  maxReruns: integer("", 0).default(10),
  maxCallDepth: integer("", 0).default(3),
  scale: integer("runs", 1).optional(),
  historyRetentionDays: integer("days", 1, 36_500).default(14),
  historyMaxBytes: integer("bytes", mebibyte).default(2 * 1024 * mebibyte),
  timezone: timezone().optional(),
});
export type ProjectTable = z.output<typeof projectSchema>;
