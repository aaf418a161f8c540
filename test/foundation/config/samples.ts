import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { AgentChange, Diagnostic } from "../../../streams/vocabulary.ts";
import { problemText } from "../../../streams/problem-text.ts";
import type { AgentFiles } from "../../../src/foundation/config/agent-files.ts";
import type {
  ProjectChange,
  ProjectConfig,
} from "../../../src/foundation/config/project-config.ts";
import { resolveAgent } from "../../../src/foundation/config/resolve-agent.ts";
import type { KnownToAgents, FilterTable } from "../../../src/foundation/config/config-key.ts";
import { resolveProject } from "../../../src/foundation/config/resolve-project.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const meaning = "";
export const filters: FilterTable = {
  github: {
    repos: { kind: "strings", meaning },
    org: { kind: "string", meaning },
    events: { kind: "strings", meaning },
    labels: { kind: "strings", meaning },
  },
  sentry: {
    resources: { kind: "strings", meaning, values: ["event_alert", "metric_alert", "issue"] },
  },
};

export function projectChange(text: string): ProjectChange {
  const machine = { machineTimezone: "Europe/Berlin", machineCores: 6 };
  return resolveProject({ dir: "/srv/project", text, ...machine }, filters);
}

export function project(text: string): ProjectConfig {
  const change = projectChange(text);
  if (change.type === "invalid") throw new Error(texts(change.problems).join("\n"));
  return change.project;
}

export const usualProject = `
[models.main]
provider = "anthropic"
model = "claude-sonnet-4-5"

[models.cheap]
provider = "scripted"
script = "scripts/hello.json"

[webhooks.hub]
type = "github"
credential = "default"

[webhooks.errors]
type = "sentry"
credential = "default"
`;

export const usualAgent = `models = ["main"]
credentials = []
schedule = "0 9 * * *"
`;

const alert = { to: null, after: 1, remindMs: 86_400_000, noSuccessForMs: null };
const hooks = { pre: [], post: [] };
/** Tables of an agent, and of a project, that are not in the file. */
const none = {
  workspace: null,
  githubApp: null,
  network: null,
  approve: null,
  expect: null,
  memory: null,
  heartbeat: null,
};
const artifactsBytes = 50 * 1024 ** 2;
export const unset = { ...none, artifactsBytes, hooks, mcp: [], schedules: [], alert };
const noTables = { network: null, cluster: null, heartbeat: null, telemetry: null };
export const unsetOfProject = { ...noTables, calendars: {}, alerts: [], alert, memories: {} };

const usualSkill = "---\nname: Developer\n---\nDo it.\n";

export function agentFiles(config: string, skill = usualSkill): AgentFiles {
  return { name: "dev", config, skill, dockerfileHash: null, schemas: new Map(), problems: [] };
}

/** What the program knows, as far as the tests of configs need it. */
export const known: KnownToAgents = {
  filters,
  credentialTypes: ["github_token", "anthropic_key"],
  credentialSets: (reference, variable) =>
    reference === "github_token" && variable === "GITHUB_TOKEN",
  version: "1.2.3",
};

export function agentChange(
  config: string,
  { skill = usualSkill, projectText = usualProject }: { skill?: string; projectText?: string } = {},
): AgentChange {
  return resolveAgent(agentFiles(config, skill), project(projectText), known);
}

export function agent(config: string, given: Parameters<typeof agentChange>[1] = {}): AgentConfig {
  const change = agentChange(config, given);
  if (change.type === "set") return change.agent;
  throw new Error(JSON.stringify(change));
}

/** The only error of a rejected change, as a person sees it. */
export function refusal(change: AgentChange | ProjectChange): string {
  expect(change.type).toBe("invalid");
  const [message = "", ...others] = said(change);
  expect(others).toEqual([]);
  return message;
}

/** Errors and warnings of a change as a person sees them. */
export function said(change: AgentChange | ProjectChange): string[] {
  if (change.type === "removed") return [];
  return texts(change.type === "set" ? change.warnings : change.problems);
}

export function texts(problems: readonly Diagnostic[]): string[] {
  return problems.map((problem) => `${problem.severity}: ${problemText(problem)}`);
}

/** A config beside the tests. */
export const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, name), "utf8");

/** A directory with these files, gone after the test. */
export async function directory(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = tempDir();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  return dir;
}
