import { isAgentName } from "../../config/agent-files.ts";
import { webhookSecretType } from "../../credentials/credential-types.ts";
import { gitignore } from "../new/templates.ts";
import { schemaLine } from "../schema-files.ts";
import { planAgent } from "./plan-agent.ts";
import type { AgentPlan } from "./plan-agent.ts";
import { inlineModels } from "./models.ts";
import { judged } from "./judge.ts";
import { mapProject, sourceType } from "./project-table.ts";
import type { SourceAgent, SourceProject } from "./read-source.ts";
import type { PlannedFile } from "./planned-file.ts";
import { placed } from "./remark.ts";
import type { Remark } from "./remark.ts";
import { splitInstructions } from "./instructions.ts";
import { withGuessedSources } from "./guess-sources.ts";
import { merged, tableAt, textAt, textFor, textsAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";

/** A new project as it is going to be. */
export interface ImportPlan {
  readonly agents: readonly string[];
  /** By path in the project. */
  readonly files: ReadonlyMap<string, PlannedFile>;
  readonly remarks: readonly Remark[];
  /** The credentials that models, webhook sources and agents need, as configs here name them. */
  readonly credentials: readonly string[];
  /** What of the source is not taken. */
  readonly leftOut: readonly string[];
}

/** Makes an Almanac project of one of Action Llama, in memory. `target` is absolute. */
export function planImport(source: SourceProject, target: string): ImportPlan {
  const given = merged(source.config?.table ?? {}, source.envToml);
  const agents = source.agents.map(inOnePiece);
  const { config, remarks: guesses } = withGuessedSources(
    given,
    agents.map(({ table }) => table),
  );
  const inline = inlineModels(
    [config, ...agents.map(({ table }) => table)],
    Object.keys(tableAt(config, "models")),
  );
  const project = mapProject(config, inline.models);
  const text = `${schemaLine("project", "")}\n\n${textFor(source.config?.text ?? null, source.config?.table ?? {}, project.table)}`;
  const sources = sourceTypes(config);
  const plans = agents.map(({ agent, table, skill }) => {
    const name = nameFor(agent.name);
    const models = [
      inline.nameOf(table) ??
        inline.nameOf(config) ??
        Object.keys(tableAt(project.table, "models"))[0] ??
        [],
    ].flat();
    const context = { name, models, sources, overrides: overridesFor(config, agent.name, table) };
    return planAgent({ agent, table, skill, context, source });
  });
  const files = new Map<string, PlannedFile>([
    [".gitignore", plainFile(gitignore)],
    ["config.toml", plainFile(text)],
    ...plans.flatMap((plan) => [...plan.files]),
  ]);
  const own = [
    ...placed("config.toml", text, [...guesses, ...project.remarks]),
    ...envRemarks(source.envToml),
    ...plans.flatMap((plan) => plan.remarks),
  ];
  return {
    agents: plans.map(({ name }) => name),
    files,
    remarks: [
      ...own,
      ...judged(
        target,
        files,
        plans.map(({ name }) => name),
        own,
      ),
    ],
    credentials: credentialsFor(project.table, plans),
    leftOut: [...source.leftOut, ...plans.flatMap((plan) => plan.leftOut)],
  };
}

function plainFile(content: string): PlannedFile {
  return { content, isExecutable: false };
}

/** What older versions kept in the front matter is part of the config. */
function inOnePiece(agent: SourceAgent) {
  const skill = agent.instructions === null ? null : splitInstructions(agent.instructions);
  return { agent, skill, table: merged(skill?.config ?? {}, agent.config?.table ?? {}) };
}

function sourceTypes(config: Table): ReadonlyMap<string, string | null> {
  const webhooks = tableAt(config, "webhooks");
  return new Map(Object.keys(webhooks).map((name) => [name, sourceType(tableAt(webhooks, name))]));
}

/** `[agents.<name>]` goes before the agent's own file, and `defaultAgentScale` behind it. */
function overridesFor(config: Table, name: string, agent: Table): Table {
  const { defaultAgentScale } = config;
  const scale =
    agent.scale === undefined && defaultAgentScale !== undefined
      ? { scale: defaultAgentScale }
      : {};
  return { ...scale, ...tableAt(tableAt(config, "agents"), name) };
}

/** Names of directories that are no names of agents here are made ones. */
function nameFor(name: string): string {
  if (isAgentName(name)) return name;
  const simple = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 50);
  return isAgentName(simple) ? simple : `${simple === "" ? "imported" : simple}-agent`;
}

function envRemarks(envToml: Table): readonly Remark[] {
  const keys = Object.keys(without(envToml, "environment", "projectName"));
  const note = (message: string): Remark => ({
    kind: "note",
    file: "config.toml",
    line: null,
    message,
    fix: null,
  });
  return [
    ...(keys.length === 0
      ? []
      : [note(`the keys of .env.toml are part of it now: ${keys.join(", ")}`)]),
  ];
}

/** Each once, those of models first. */
function credentialsFor(project: Table, plans: readonly AgentPlan[]): readonly string[] {
  const models = Object.values(tableAt(project, "models")).map((model) => keyOf(model as Table));
  const secrets = Object.values(tableAt(project, "webhooks")).map((source) =>
    secretOf(source as Table),
  );
  const named = plans.flatMap(({ config }) => textsAt(config, "credentials"));
  return [...new Set([...models, ...secrets, ...named].filter((name) => name !== null))];
}

function keyOf(model: Table): string | null {
  const provider = textAt(model, "provider");
  if (provider === null || provider === "scripted" || model.authType === "none") return null;
  return textAt(model, "credential") ?? `${provider}_key`;
}

function secretOf(source: Table): string | null {
  const instance = textAt(source, "credential");
  if (instance === null) return null;
  const type = webhookSecretType(textAt(source, "type") ?? "");
  return instance === "default" ? type : `${type}:${instance}`;
}
