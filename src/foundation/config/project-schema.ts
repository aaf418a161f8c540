import { providers, type Provider } from "../../../streams/agent-config.ts";
import { z } from "zod";
import { maxAllowedBodyBytes } from "../contracts/body-limits.ts";
import { projectAlertSchema } from "./alert-options.ts";
import { alertTargetsSchema } from "./alert-targets.ts";
import { projectArtifactsSchema } from "./artifacts.ts";
import { projectBudgetSchema } from "./budget.ts";
import { calendarsSchema } from "./calendars.ts";
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
import { memoriesSchema } from "./memory.ts";
import { modelKeys } from "./model-keys.ts";
import { projectNetworkSchema } from "./network.ts";
import { telemetrySchema } from "./telemetry.ts";
import { formatKeys } from "./webhook-format.ts";

const mebibyte = 1024 ** 2;

const modelSchema = fileSchema(modelKeys);
export type ModelTable = z.output<typeof modelSchema>;

/** Requests to this address carry a token and the webhook's secret. */
const hookApiError =
  'an https URL, e.g. "https://git.example.org/api/v4"; http is for this machine only';

const sourceSchema = table({
  type: text("a type of webhook source").describe(
    'The service that sends the webhooks, such as "github".',
  ),
  credential: credentialInstance().optional().meta({
    description:
      "The credential instance whose secret verifies deliveries. Unsigned deliveries are refused unless `allowUnsigned` is true.",
    fallback: "none",
  }),
  allowUnsigned: flag()
    .default(false)
    .describe(
      "Whether to accept unsigned deliveries from any program that can reach the gateway. Requests from web pages are still refused.",
    ),
  api: httpUrl(hookApiError)
    .refine((url) => /^https:|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])([:/]|$)/i.test(url), {
      error: hookApiError,
    })
    .optional()
    .meta({
      description:
        "API address that `al webhook setup` uses to create webhooks, for a self-hosted server.",
      fallback: "the public API of GitHub, GitLab, Linear or Stripe",
    }),
  ...formatKeys,
});

const localSchema = table({
  image: text("the name of an image")
    .default("al-agent:latest")
    .describe(
      "Image for agents without a Dockerfile. Build a custom image `FROM al-agent:latest`.",
    ),
  memory: memorySize()
    .default("4g")
    .describe(
      "Memory limit per container, without swap. Files written to its in-memory folders count.",
    ),
  cpus: processors().default(2).describe("CPU limit per container."),
  timeout: integer("seconds", 1, maxTimerSeconds)
    .default(900)
    .describe("Maximum duration of a run. Overridden by the agent's `timeout`."),
  network: network()
    .default("none")
    .describe(
      '"none" restricts runs to their models and the hosts listed under `[network]`. With any other value `[network]` has no effect: containers join this network of the engine, and host-user runs use the machine\'s network.',
    ),
  base: text("the name of a local image").optional().meta({
    description:
      "Base of the default image, for machines that can't reach a registry. It must contain Node 24, git, curl, jq and ssh.",
    fallback: "node:24-slim",
  }),
  starting: integer("runs", 1, 1000).optional().meta({
    description:
      "How many runs may start at the same time, so that a burst does not slow down everything else.",
    fallback: "the number of processors",
  }),
});

const publicUrlError =
  'an http or https URL, e.g. "https://al.example.org" or "https://example.org/al"';
/** The path must not begin like a gateway route, such as /api: requests would be ambiguous. */
const publicUrlForm =
  /^\w+:\/\/[^/?#]+(\/(?!(api|control|dashboard|health|locks|log|metrics|openapi|webhooks))[\w.~-]+(\/[\w.~-]+)*)?\/?$/;

const gatewaySchema = table({
  port: integer("", 0, 65_535).default(8080).describe("TCP port; 0 picks a free one."),
  host: text("a host name or address to listen on")
    .default("127.0.0.1")
    .describe("Address to listen on."),
  allowedHosts: list(text(), 'a list of host names, e.g. ["al.example.org"]')
    .default([])
    .describe("Further host names to accept in requests, such as the name of a reverse proxy."),
  trustProxy: flag()
    .default(false)
    .describe("Whether to trust the X-Forwarded-For and X-Forwarded-Proto of a reverse proxy."),
  maxBodyBytes: integer("bytes", 1024, maxAllowedBodyBytes)
    .default(25 * mebibyte)
    .describe(
      "Maximum size of a delivery. The default is GitHub's limit. Four deliveries of this size can arrive at the same time.",
    ),
  publicUrl: httpUrl(publicUrlError)
    .refine((url) => URL.canParse(url) && publicUrlForm.test(new URL(url).href), {
      error: publicUrlError,
    })
    .optional()
    .meta({
      description:
        "Public address of the dashboard, used for links in alerts. If it contains a path, the gateway serves everything below that path, whether or not the proxy strips it.",
      fallback: "the address it listens on",
    }),
  edit: flag()
    .default(true)
    .describe(
      "Whether people can edit agents in the dashboard and via the API: config.toml, SKILL.md, and allowing a denied host. This key takes effect immediately.",
    ),
});

const name = pattern(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,62}$/, "letters, digits and . _ : / -");
const sourceName = pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "letters, digits and . _ -");

/** Schema of the project's `config.toml`. */
export const projectSchema = table({
  models: z
    .record(name, modelSchema, { error: "tables [models.<name>]" })
    .default({})
    .describe("A model that agents can use."),
  harness: harnessSchema
    .default({})
    .describe(
      "The program that talks to the model during a run. Overridden by an agent's `[harness]`.",
    ),
  local: localSchema.prefault({}).describe("Where and how runs execute on this machine."),
  gateway: gatewaySchema
    .prefault({})
    .describe(
      "The HTTP server for webhooks, the dashboard and the API. Restart the scheduler after a change.",
    ),
  webhooks: z
    .record(sourceName, sourceSchema, { error: "tables [webhooks.<source>]" })
    .default({})
    .describe("A webhook source that agents can use."),
  budget: projectBudgetSchema
    .prefault({})
    .describe(
      "Spending limits of runs. The highest possible cost of a call is reserved before the call; if it no longer fits a limit, the call is refused.",
    ),
  network: projectNetworkSchema
    .optional()
    .describe(
      "Hosts that the runs of all agents may reach, in addition to each agent's own list. A run whose network can't be restricted does not start.",
    ),
  cluster: clusterSchema
    .optional()
    .describe("A Swarm or Kubernetes cluster for runs. Agents without `[runtime].type` run there."),
  calendars: calendarsSchema,
  alerts: alertTargetsSchema,
  alert: projectAlertSchema
    .prefault({})
    .describe("When alerts are sent. Overridden by an agent's `[alert]`."),
  memories: memoriesSchema,
  artifacts: projectArtifactsSchema
    .prefault({})
    .describe("Files that runs leave in the folder `out/` of their working directory."),
  heartbeat: projectHeartbeatSchema
    .prefault({})
    .describe(
      "A URL to ping every minute while the scheduler is healthy. A monitoring service can notify you when the pings stop.",
    ),
  telemetry: telemetrySchema
    .optional()
    .describe(
      "Sends traces of runs to an OpenTelemetry collector: triggers, runs, model calls and tool calls, with cost and outcome.",
    ),
  workQueueSize: integer("work items", 1)
    .default(100)
    .describe(
      "Maximum length of each agent's queue. When the queue is full, the oldest item is dropped. Overridden by the agent's `maxWorkQueueSize`.",
    ),
  defaultWaitTimeout: integer("seconds", 1, maxTimerSeconds)
    .default(1800)
    .describe("How long a run may wait for a trigger. Overridden by the agent's `waitTimeout`."),
  resourceLockTimeout: integer("seconds", 1, maxTimerSeconds)
    .default(1800)
    .describe("How long a run keeps a lock without renewing it."),
  maxReruns: integer("", 0)
    .default(10)
    .describe("How many times in a row a run may request a rerun."),
  maxCallDepth: integer("", 0).default(3).describe("Maximum depth of calls between agents."),
  scale: integer("runs", 1).optional().meta({
    description:
      "Maximum number of concurrent runs in the project. Further work is queued, and so is the latest scheduled run of each agent.",
    fallback: "the sum of the agents' `scale`",
  }),
  historyRetentionDays: integer("days", 1, 36_500)
    .default(14)
    .describe("How long history, deliveries and logs are kept."),
  historyMaxBytes: integer("bytes", mebibyte)
    .default(2 * 1024 * mebibyte)
    .describe("Maximum size of history, deliveries and logs. The oldest are deleted first."),
  timezone: timezone().optional().meta({
    description: "Time zone of schedules, budgets and quiet hours.",
    fallback: "the machine's time zone",
  }),
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
    expected: (provider) => `${provider}'s name of the model`,
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
