import { isAgentName } from "../../config/agent-files.ts";
import { webhookSecretType } from "../../credentials/credential-types.ts";
import { gitignore } from "../new/templates.ts";
import { schemaLine } from "../schema-files.ts";
import { findProblems } from "./find-problems.ts";
import { planAgent } from "./plan-agent.ts";
import { impliedSources, inlineModels, sourceType, translateProject } from "./project-config.ts";
import type { ProjectFile, SourceProject } from "./read-source.ts";
import { placed } from "./remarks.ts";
import type { Remark } from "./remarks.ts";
import { merged, tableAt, textAt, textFor, textsAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";

/** The project that the import is going to write. */
export interface ImportPlan {
  readonly agents: readonly string[];
  /** By path in the project. */
  readonly files: ReadonlyMap<string, ProjectFile>;
  readonly remarks: readonly Remark[];
  /** The credentials that models, webhook sources and agents need, as configs here name them. */
  readonly credentials: readonly string[];
  /** Files of the source that are not taken. */
  readonly leftOut: readonly string[];
}

/** Makes an Almanac project of one of Action Llama, in memory. `target` is absolute. */
export function planImport(source: SourceProject, target: string): ImportPlan {
  const tables = source.agents.map(({ config }) => config?.table ?? {});
  const implied = impliedSources(merged(source.config?.table ?? {}, source.envToml), tables);
  const given = implied.table;
  const inline = inlineModels([given, ...tables], Object.keys(tableAt(given, "models")));
  const project = translateProject(given, inline.models);
  const body = textFor(source.config, project.table);
  const text = `${schemaLine("project", "")}\n\n${body}`;
  const webhooks = tableAt(given, "webhooks");
  const sources = new Map(
    Object.keys(webhooks).map((name) => [name, sourceType(tableAt(webhooks, name))]),
  );
  const [firstModel] = Object.keys(tableAt(project.table, "models"));
  const plans = source.agents.map((agent) => {
    const model = inline.nameOf(agent.config?.table ?? {}) ?? inline.nameOf(given) ?? firstModel;
    const context = { models: model === undefined ? [] : [model], sources };
    return planAgent({ agent, name: nameFor(agent.name), context, source });
  });
  const names = plans.map(({ name }) => name);
  const files = new Map([
    [".gitignore", { content: gitignore, isExecutable: false }],
    ["config.toml", { content: text, isExecutable: false }],
    ...plans.flatMap((plan) => [...plan.files]),
  ]);
  const remarks = [
    ...placed("config.toml", text, [...implied.remarks, ...project.remarks]),
    ...envRemarks(source.envToml),
    ...plans.flatMap((plan) => plan.remarks),
  ];
  const configs = plans.map(({ config }) => config);
  return {
    agents: names,
    files,
    remarks: [...remarks, ...findProblems(target, files, names, remarks)],
    credentials: credentialsFor(project.table, configs),
    leftOut: [...source.leftOut, ...plans.flatMap((plan) => plan.leftOut)],
  };
}

/** The directory's name, or a valid one made of it. */
function nameFor(name: string): string {
  if (isAgentName(name)) return name;
  const simple = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const trimmed = simple.replaceAll(/^-+|-+$/g, "").slice(0, 50);
  return isAgentName(trimmed) ? trimmed : `${trimmed === "" ? "imported" : trimmed}-agent`;
}

function envRemarks(envToml: Table): readonly Remark[] {
  const keys = Object.keys(without(envToml, "environment", "projectName")).join(", ");
  const message = `the keys of .env.toml are part of it now: ${keys}`;
  return keys === "" ? [] : [{ file: "config.toml", line: null, message, fix: null }];
}

/** Each once, those of models first. */
function credentialsFor(project: Table, agents: readonly Table[]): readonly string[] {
  const [models, sources] = [tableAt(project, "models"), tableAt(project, "webhooks")];
  const names = [
    ...Object.keys(models).map((name) => modelKey(tableAt(models, name))),
    ...Object.keys(sources).map((name) => webhookSecret(tableAt(sources, name))),
    ...agents.flatMap((config) => textsAt(config, "credentials")),
  ];
  return [...new Set(names.filter((name) => name !== null))];
}

function modelKey(model: Table): string | null {
  const provider = textAt(model, "provider");
  if (provider === null || model.authType === "none") return null;
  return textAt(model, "credential") ?? `${provider}_key`;
}

function webhookSecret(source: Table): string | null {
  const instance = textAt(source, "credential");
  if (instance === null) return null;
  const type = webhookSecretType(textAt(source, "type") ?? "");
  return instance === "default" ? type : `${type}:${instance}`;
}
