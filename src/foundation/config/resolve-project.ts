import { problemText } from "../../../streams/problem-text.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import type { FilterTable } from "./config-key.ts";
import { Problem } from "../errors.ts";
import type { ProjectConfig, WebhookSource, ProjectChange } from "./project-config.ts";
import { readProject, type ProjectFile } from "./read-project.ts";
import type { ModelApi, ModelConfig } from "../../../streams/agent-config.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import { modelDefaults } from "../contracts/model-defaults.ts";
import { checkAlert, projectAlert } from "./alert-options.ts";
import { alertTargets, checkAlertTargets } from "./alert-targets.ts";
import { projectBudget } from "./budget.ts";
import { calendarsOf, checkCalendars } from "./calendars.ts";
import { checkCluster, resolveCluster } from "./cluster.ts";
import { sizeBytes } from "./fields.ts";
import { resolveHarness } from "./harness.ts";
import { resolveKeys } from "./key-table.ts";
import { projectMemory } from "./memory.ts";
import { modelKeys } from "./model-keys.ts";
import { missingModelKey, projectSchema } from "./project-schema.ts";
import { resolveTelemetry } from "./telemetry.ts";
import { checkFormat } from "./webhook-format.ts";
import { validateToml, hasErrors, type Diagnostics } from "./validate.ts";
import type { ModelTable, ProjectTable } from "./project-schema.ts";
import { formatNames, formatValue } from "./format-value.ts";

/** The project's config from its text. Pure; never throws. */
export function resolveProject(file: ProjectFile, filters: FilterTable): ProjectChange {
  const { value, diagnostics } = validateToml(projectSchema, "config.toml", file.text);
  if (value !== null) {
    checkModels(value, diagnostics);
    checkSources(value, filters, diagnostics);
    checkCluster(value.cluster, diagnostics);
    checkCalendars(value.calendars, file.calendars ?? new Map(), diagnostics);
    checkAlertTargets(value.alerts, diagnostics);
    checkAlert(value.alert, alertTargets(value.alerts), diagnostics);
  }
  if (value === null || hasErrors(diagnostics.problems)) {
    return { type: "invalid", problems: diagnostics.problems };
  }
  return { type: "set", project: projectConfig(value, file), warnings: diagnostics.problems };
}

function checkModels({ models }: ProjectTable, diagnostics: Diagnostics): void {
  for (const [name, model] of Object.entries(models)) {
    const path = ["models", name];
    const missing = missingModelKey(model);
    if (missing !== null) {
      const [key, expected] = missing;
      diagnostics.error(path, `${path.join(".")}.${key} is missing; expected ${expected}`);
    }
    if (model.authType === "oauth_token" && apiOf(model) === "google-generative-ai") {
      const found = `${path.join(".")}.authType is "oauth_token", which Google's API does not accept`;
      diagnostics.error([...path, "authType"], `${found}; use "api_key"`);
    }
  }
}

function apiOf({ api, provider, model = "" }: ModelTable): ModelApi {
  return api ?? modelDefaults(provider, model).api;
}

function checkSources(
  { webhooks }: ProjectTable,
  filters: FilterTable,
  diagnostics: Diagnostics,
): void {
  for (const [name, source] of Object.entries(webhooks)) {
    const path = ["webhooks", name];
    if (!Object.hasOwn(filters, source.type)) {
      const types = Object.keys(filters);
      const near = didYouMean(source.type, types);
      const expected = `expected one of ${formatNames(types)}${near}`;
      diagnostics.error(
        [...path, "type"],
        `${path.join(".")}.type is ${formatValue(source.type)}; ${expected}`,
      );
      continue;
    }
    checkFormat(name, source, diagnostics);
    if (source.allowUnsigned) {
      const advice = "every client that reaches the gateway can start agents with it";
      diagnostics.warn(
        [...path, "allowUnsigned"],
        `webhook source ${name} accepts unsigned deliveries: ${advice}`,
      );
    } else if (source.credential === undefined) {
      const advice = "set credential to the instance of its secret, or set allowUnsigned = true";
      diagnostics.warn(
        path,
        `webhook source ${name} has no credential, so its deliveries are refused; ${advice}`,
      );
    }
  }
}

function projectConfig(
  table: ProjectTable,
  { dir, machineTimezone, machineCores, calendars: files = new Map() }: ProjectFile,
): ProjectConfig {
  const { models, harness, local, gateway, webhooks, budget, network, timezone, scale, ...rest } =
    table;
  const { defaultWaitTimeout, resourceLockTimeout, alerts, alert, heartbeat, ...more } = rest;
  const { calendars, cluster, artifacts, memories, telemetry, ...sizes } = more;
  const { timeout, base, starting, ...localRest } = local;
  return {
    models: mapEntries(models, (name, model) => modelConfig(name, model, dir)),
    harness: resolveHarness(harness),
    local: {
      ...localRest,
      timeoutSeconds: timeout,
      base: base ?? null,
      starting: starting ?? machineCores,
    },
    gateway: { ...gateway, publicUrl: withoutSlash(gateway.publicUrl) },
    webhooks: mapEntries(webhooks, (name, { credential = null, ...source }): WebhookSource => {
      return { name, ...source, credential };
    }),
    budget: projectBudget(budget),
    network: network ? { allow: network.allow, credentials: network.credentials } : null,
    cluster: resolveCluster(cluster),
    calendars: calendarsOf(calendars, files),
    alerts: alertTargets(alerts),
    alert: projectAlert(alert),
    memories: mapEntries(memories, (_, table) => projectMemory(table)),
    artifactsBytes: sizeBytes(artifacts.maxBytes),
    heartbeat: heartbeat.url ?? null,
    telemetry: resolveTelemetry(telemetry),
    ...sizes,
    defaultWaitTimeoutSeconds: defaultWaitTimeout,
    resourceLockTimeoutSeconds: resourceLockTimeout,
    scale: scale ?? null,
    timezone: timezone ?? machineTimezone,
  };
}

function withoutSlash(url: string | undefined): string | null {
  return url === undefined ? null : new URL(url).href.replace(/\/$/, "");
}

function modelConfig(name: string, table: ModelTable, projectDir: string): ModelConfig {
  return { name, ...resolveKeys(modelKeys, table, { name, provider: table.provider, projectDir }) };
}

function mapEntries<From, To>(
  record: Readonly<Record<string, From>>,
  map: (key: string, value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(key, value)]));
}

export interface LoadedProject {
  readonly project: ProjectConfig;
  readonly warnings: readonly Diagnostic[];
}

/**
 * The project at `dir` (absolute), for a start that needs one. Throws a Problem for a bad or a missing one.
 */
export async function loadProject(dir: string, filters: FilterTable): Promise<LoadedProject> {
  const change = resolveProject(await readProject(dir), filters);
  if (change.type === "invalid") throw invalidConfig(change.problems);
  return { project: change.project, warnings: change.warnings };
}

/** A config that can't be used at a start, where no earlier one is active. The message has one line a problem. */
function invalidConfig(problems: readonly Diagnostic[]): Problem {
  return new Problem("invalid_config", problems.map(problemText).join("\n"));
}
