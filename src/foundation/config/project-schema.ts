import { providers, type Provider } from "../../../streams/agent-config.ts";
import { z } from "zod";
import { maxAllowedBodyBytes } from "../contracts/body-limits.ts";
import { projectAlertSchema } from "./alert-options.ts";
import { alertTargetsSchema } from "./alert-targets.ts";
import { projectBudgetSchema } from "./budget.ts";
import { clusterSchema } from "./cluster.ts";
import {
  credentialInstance,
  flag,
  httpUrl,
  integer,
  list,
  maxTimerSeconds,
  memorySize,
  network,
  pattern,
  processors,
  table,
  text,
  timezone,
} from "./fields.ts";
import { harnessSchema } from "./harness.ts";
import { projectHeartbeatSchema } from "./heartbeat.ts";
import { fileSchema } from "./key-table.ts";
import { modelKeys } from "./model-keys.ts";
import { projectNetworkSchema } from "./network.ts";
import { telemetrySchema } from "./telemetry.ts";

const mebibyte = 1024 ** 2;

const modelSchema = fileSchema(modelKeys);
export type ModelTable = z.output<typeof modelSchema>;

/** Requests to this address carry a token and the webhook's secret. */
const hookApiError =
  'an https URL, e.g. "https://git.example.org/api/v4"; http is for this machine only';

const sourceSchema = table({
  type: text("a type of webhook source").describe('The service that sends, such as "github".'),
  credential: credentialInstance()
    .optional()
    .describe(
      "The instance of the type's secret, which proves deliveries. Without it they are refused, unless allowUnsigned is true.",
    ),
  allowUnsigned: flag()
    .default(false)
    .describe(
      "Accepts unsigned deliveries from every program that reaches the gateway; what a web page sends is refused.",
    ),
  api: httpUrl(hookApiError)
    .refine((url) => /^https:|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])([:/]|$)/i.test(url), {
      error: hookApiError,
    })
    .optional()
    .describe(
      "The API by which `al webhook setup` makes webhooks, for a server of your own; by default GitHub's, GitLab's, Linear's or Stripe's.",
    ),
});

const localSchema = table({
  image: text("the name of an image")
    .default("al-agent:latest")
    .describe(
      "The image of agents without a Dockerfile. Another one than the default is built by you, from it.",
    ),
  memory: memorySize()
    .default("4g")
    .describe("What a container may use, without swap; what is written to its folders counts."),
  cpus: processors().default(2).describe("Processors that a container may use."),
  timeout: integer("seconds", 1, maxTimerSeconds)
    .default(900)
    .describe("How long a run may take, for agents without a timeout of their own."),
  network: network()
    .default("none")
    .describe(
      '"none": a run reaches its models and the hosts of [network], and nothing else. With any other value [network] has no effect: containers are connected to this network of the engine, and processes of OS users have the machine\'s.',
    ),
  base: text("the name of a local image")
    .optional()
    .describe(
      "What the default image is built on, where no registry can be reached: Node 24, git, curl, jq and ssh are in it. Without it node:24-slim.",
    ),
  starting: integer("runs", 1, 1000)
    .optional()
    .describe(
      "How many runs may be starting at once, so that a burst does not slow down everything else. Without it as many as the machine has processors.",
    ),
});

const publicUrlError =
  'an http or https URL, e.g. "https://al.example.org" or "https://example.org/al"';
/** The path must not begin like a gateway route, such as /api: requests would be ambiguous. */
const publicUrlForm =
  /^\w+:\/\/[^/?#]+(\/(?!(api|control|dashboard|health|locks|log|metrics|openapi|webhooks))[\w.~-]+(\/[\w.~-]+)*)?\/?$/;

const gatewaySchema = table({
  port: integer("", 0, 65_535).default(8080).describe("The TCP port; 0 is any that is free."),
  host: text("a host name or address to listen on")
    .default("127.0.0.1")
    .describe("Where to listen."),
  allowedHosts: list(text(), 'a list of host names, e.g. ["al.example.org"]')
    .default([])
    .describe("Further names that browsers may ask for, such as that of a reverse proxy."),
  trustProxy: flag()
    .default(false)
    .describe("Whether to trust the X-Forwarded-For and X-Forwarded-Proto of a reverse proxy."),
  maxBodyBytes: integer("bytes", 1024, maxAllowedBodyBytes)
    .default(25 * mebibyte)
    .describe(
      "The largest delivery that is taken; the default is GitHub's limit. Four of this size may arrive at the same time.",
    ),
  publicUrl: httpUrl(publicUrlError)
    .refine((url) => URL.canParse(url) && publicUrlForm.test(new URL(url).href), {
      error: publicUrlError,
    })
    .optional()
    .describe(
      "The address by which people reach the dashboard, for links in alerts. With a path, the gateway is served below it, whether the proxy leaves the path in requests or not.",
    ),
  edit: flag()
    .default(true)
    .describe(
      "Whether the dashboard and the API write agents' files: config.toml, SKILL.md, and a host that is allowed there. A change applies at once.",
    ),
});

const name = pattern(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,62}$/, "letters, digits and . _ : / -");
const sourceName = pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "letters, digits and . _ -");

/** Schema of the project's `config.toml`. */
export const projectSchema = table({
  models: z
    .record(name, modelSchema, { error: "tables [models.<name>]" })
    .default({})
    .describe("A model that agents may name."),
  harness: harnessSchema
    .default({})
    .describe("What talks to the model inside a run, for agents without a [harness] of their own."),
  local: localSchema.prefault({}).describe("Containers, and processes that are started ahead."),
  gateway: gatewaySchema
    .prefault({})
    .describe("The HTTP server for webhooks, the dashboard and the API. A change needs a restart."),
  webhooks: z
    .record(sourceName, sourceSchema, { error: "tables [webhooks.<source>]" })
    .default({})
    .describe("A sender of webhooks that agents may name."),
  budget: projectBudgetSchema
    .prefault({})
    .describe(
      "What runs may spend on models. What a call may cost is reserved before it is made; each open call may pass a limit once, further ones are refused.",
    ),
  network: projectNetworkSchema
    .optional()
    .describe(
      "What the runs of all agents may reach beside what each agent lists. Where the network can't be closed for a run, it does not start.",
    ),
  cluster: clusterSchema
    .optional()
    .describe("Other machines for runs: agents without a type under [runtime] run there."),
  alerts: alertTargetsSchema,
  alert: projectAlertSchema
    .prefault({})
    .describe("When there are alerts, for agents that don't set their own."),
  heartbeat: projectHeartbeatSchema
    .prefault({})
    .describe(
      "A URL that is pinged each minute while the scheduler is well: what watches it sends a message once the pings stay away.",
    ),
  telemetry: telemetrySchema
    .optional()
    .describe(
      "Where the traces of runs are sent by OpenTelemetry: trigger, run, calls to models and tools, with cost and outcome.",
    ),
  workQueueSize: integer("work items", 1)
    .default(100)
    .describe(
      "How much work waits for an agent; what is more drops the oldest. An agent's maxWorkQueueSize goes before it.",
    ),
  defaultWaitTimeout: integer("seconds", 1, maxTimerSeconds)
    .default(1800)
    .describe("How long a run waits for a trigger, for agents without a waitTimeout of their own."),
  resourceLockTimeout: integer("seconds", 1, maxTimerSeconds)
    .default(1800)
    .describe("How long a lock is held that is not renewed."),
  maxReruns: integer("", 0)
    .default(10)
    .describe("How often in a row a run may ask to be run again."),
  maxCallDepth: integer("", 0)
    .default(3)
    .describe("How many calls deep agents may call each other."),
  scale: integer("runs", 1)
    .optional()
    .describe(
      "How many runs of all agents may live at once; beyond that work waits, and the latest tick of each agent. Without it as many as their own scales allow.",
    ),
  historyRetentionDays: integer("days", 1, 36_500)
    .default(14)
    .describe("How long history, receipts and logs are kept."),
  historyMaxBytes: integer("bytes", mebibyte)
    .default(2 * 1024 * mebibyte)
    .describe("How much of them is kept; the oldest goes first."),
  timezone: timezone().optional().describe("The clock of schedules. Without it the machine's."),
});
export type ProjectTable = z.output<typeof projectSchema>;

/** A key that models of some providers require. */
interface NeededKey {
  readonly key: "script" | "model" | "baseUrl";
  readonly providers: readonly Provider[];
  readonly expected: (provider: Provider) => string;
}

/** The check of a project's config and the editor's schema are made from this table. */
export const neededModelKeys: readonly NeededKey[] = [
  {
    key: "script",
    providers: ["scripted"],
    expected: () => "the path of the script that the model replays",
  },
  {
    key: "model",
    providers: providers.filter((provider) => provider !== "scripted"),
    expected: (provider) => `the name that ${provider} gives the model`,
  },
  {
    key: "baseUrl",
    providers: ["custom"],
    expected: () => "the URL of an OpenAI-compatible endpoint",
  },
];

/** The first key that the model lacks, and its expected value; null if it has all. */
export function missingModelKey(model: ModelTable): readonly [string, string] | null {
  const { provider } = model;
  const missing = neededModelKeys.find(
    (needed) => needed.providers.includes(provider) && model[needed.key] === undefined,
  );
  return missing === undefined ? null : [missing.key, missing.expected(provider)];
}
