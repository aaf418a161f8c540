import type { Problem } from "../../../../streams/vocabulary.ts";
import { isAgentName } from "../../../foundation/config/agent-files.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { resolveProject } from "../../../foundation/config/resolve-project.ts";
import { machineTimezone } from "../../../foundation/config/fields.ts";
import { credentialName } from "../../../foundation/contracts/credential-reference.ts";
import { webhookSecretType } from "../../../foundation/credentials/credential-types.ts";
import { checkAgent } from "../../operations/project-files.ts";
import { filterTable } from "../../../features/webhooks/providers/table.ts";
import { gitignore } from "../new/templates.ts";
import { schemaLine } from "../../operations/editor-schemas.ts";
import type { NewFiles } from "../write-files.ts";
import { planAgent } from "./plan-agent.ts";
import {
  inlineModels,
  sourceType,
  translateProject,
  withImpliedSources,
} from "./project-config.ts";
import type { SourceProject } from "./read-source.ts";
import { merged, tableAt, textAt, textFor, textsAt, without, keyRemarks } from "./tables.ts";
import type { Table, Remark } from "./tables.ts";

export type ImportPlan = ReturnType<typeof planImport>;

/** Makes an Almanac project of one of Action Llama, in memory. `target` is absolute. */
export function planImport(source: SourceProject, target: string) {
  const { envToml } = source;
  const tables = source.agents.map(({ config }) => config?.table ?? {});
  const remarks = keyRemarks();
  const given = withImpliedSources(
    merged(source.config?.table ?? {}, envToml),
    tables,
    remarks.add,
  );
  const inline = inlineModels([given, ...tables], Object.keys(tableAt(given, "models")));
  const project = translateProject(given, inline.models, remarks.add);
  const envKeys = Object.keys(without(envToml, "environment", "projectName")).join(", ");
  const text = `${schemaLine("project", "")}\n\n${textFor(source.config, project)}`;
  const sources = new Map(
    Object.entries(tablesIn(given, "webhooks")).map(([name, table]) => [name, sourceType(table)]),
  );
  const [firstModel] = Object.keys(tableAt(project, "models"));
  const plans = source.agents.map((agent) => {
    const model = inline.nameOf(agent.config?.table ?? {}) ?? inline.nameOf(given) ?? firstModel;
    const context = { models: model === undefined ? [] : [model], sources };
    return planAgent(agent, nameFor(agent.name), context, source);
  });
  const agents = plans.map(({ name }) => name);
  const files: NewFiles = new Map([
    [".gitignore", { content: gitignore }],
    ["config.toml", { content: text }],
    ...plans.flatMap((plan) => [...plan.files]),
  ]);
  if (envKeys !== "") remarks.add([], `the keys of .env.toml are part of it now: ${envKeys}`);
  const changes = [
    ...remarks.placedIn("config.toml", text),
    ...plans.flatMap((plan) => plan.remarks),
  ];
  const inAgents = source.agents.flatMap(({ name, leftOut }) =>
    leftOut.map((path) => `${name}/${path}`),
  );
  return {
    agents,
    files,
    remarks: [...changes, ...problemsOf({ files, agents }, target, changes)],
    /** The credentials of models, webhook sources and agents, under their names here. */
    credentials: credentialsFor(
      project,
      plans.map(({ config }) => config),
    ),
    /** Files of the source that are not imported. */
    leftOut: [...source.leftOut, ...inAgents],
  };
}

/** The directory's name, or a valid one made of it. */
function nameFor(name: string): string {
  if (isAgentName(name)) return name;
  const simple = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const trimmed = simple.replaceAll(/^-|-$/g, "").slice(0, 50);
  return isAgentName(trimmed) ? trimmed : `${trimmed === "" ? "imported" : trimmed}-agent`;
}

/** Each once, those of models first. */
function credentialsFor(project: Table, agents: readonly Table[]): readonly string[] {
  const names = [
    ...Object.values(tablesIn(project, "models")).map(modelKey),
    ...Object.values(tablesIn(project, "webhooks")).map(webhookSecret),
    ...agents.flatMap((config) => textsAt(config, "credentials")),
  ];
  return [...new Set(names.filter((name) => name !== null))];
}

function tablesIn(table: Table, key: string): Readonly<Record<string, Table>> {
  const inner = tableAt(table, key);
  return Object.fromEntries(Object.keys(inner).map((name) => [name, tableAt(inner, name)]));
}

function modelKey(model: Table): string | null {
  const provider = textAt(model, "provider");
  if (provider === null || model.authType === "none") return null;
  return textAt(model, "credential") ?? `${provider}_key`;
}

function webhookSecret(source: Table): string | null {
  const instance = textAt(source, "credential");
  if (instance === null) return null;
  return credentialName({ type: webhookSecretType(textAt(source, "type") ?? ""), instance });
}

/** The problems that the scheduler will find in the new project, except in lines that already have an edit. */
function problemsOf(
  { files, agents }: { readonly files: NewFiles; readonly agents: readonly string[] },
  dir: string,
  remarks: readonly Remark[],
): readonly Remark[] {
  const textOf = (path: string) => files.get(path)?.content.toString() ?? null;
  const machine = { machineTimezone: machineTimezone(), machineCores: 1 };
  const text = textOf("config.toml") ?? "";
  const resolved = resolveProject({ dir, text, ...machine }, filterTable);
  const inAgent = (name: string, project: ProjectConfig): readonly Problem[] => {
    const config = textOf(`agents/${name}/config.toml`);
    const skill = textOf(`agents/${name}/SKILL.md`);
    const agent = { name, config, skill, dockerfileHash: null, schemas: new Map(), problems: [] };
    return checkAgent(agent, project).problems;
  };
  const problems =
    resolved.type === "invalid"
      ? resolved.problems
      : [...resolved.warnings, ...agents.flatMap((name) => inAgent(name, resolved.project))];
  const edits = remarks.filter(({ fix }) => fix !== null);
  return problems
    .filter(({ file, line }) => !edits.some((edit) => edit.file === file && edit.line === line))
    .map(({ file, line, message }) => {
      return { file, line, message, fix: "correct it; al doctor checks it again" };
    });
}
