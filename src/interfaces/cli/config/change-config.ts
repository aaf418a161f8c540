import { problemText } from "../../../../streams/problem-text.ts";
import { UserError, messageOf } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { openPrompts, type Choice, type Prompts } from "../terminal/prompts.ts";
import { schemaOf, writeSchemas, type SchemaName } from "../../operations/editor-schemas.ts";
import { isRefused, newProblems, refuseProblems } from "../../operations/project-files.ts";
import { openConfig, writeConfig, tomlLines, type ConfigFile } from "./config-file.ts";
import { noteForecast } from "./note-forecast.ts";
import {
  edited,
  parseKey,
  parseSetting,
  refuseUnset,
} from "../../../foundation/config/edit-toml.ts";
import type { Edit } from "../../../foundation/config/edit-toml.ts";
import { makeConfig, openBareSkill } from "./make-config.ts";
import { readProject } from "../../../foundation/config/read-project.ts";
import { resolveProject } from "../../../foundation/config/resolve-project.ts";
import { unknownModels } from "../../../features/models/unknown-models.ts";
import { filterTable } from "../../../features/webhooks/providers/table.ts";
import { parse } from "smol-toml";

interface ConfigOptions {
  readonly schema?: SchemaName;
  readonly set: readonly string[];
  /** Values to add to a list. */
  readonly add: readonly string[];
  readonly unset: readonly string[];
}

/**
 * Changes a `config.toml` by flags, or by questions on a terminal; without either it prints the active config. For a
 * directory with only a SKILL.md, it makes one.
 */
export async function changeConfig(
  context: Context,
  named: string | undefined,
  options: ConfigOptions,
): Promise<void> {
  const agent = named ?? null;
  const edits = [
    ...options.set.map(parseSetting),
    ...options.add.map((setting): Edit => ({ ...parseSetting(setting), isAdded: true })),
    ...options.unset.map((key): Edit => ({ path: parseKey(key) })),
  ];
  if (options.schema !== undefined) {
    if (edits.length > 0) {
      throw new UserError("usage", "--schema prints and changes nothing");
    }
    return context.out.data(JSON.stringify(schemaOf(options.schema), null, 2));
  }
  const bare = agent === null ? null : await openBareSkill(context.projectDir, agent);
  if (bare !== null) return makeConfig(context, bare, edits);
  const file = await openConfig(context.projectDir, agent);
  refuseUnset(file, edits);
  if (edits.length > 0) return save(context, agent, file, edits);
  const prompts = await openPrompts(context);
  if (prompts === null) return show(context, agent, file);
  const chosen = await guide(file, agent, prompts);
  if (chosen.length > 0) return save(context, agent, file, chosen);
  context.out.note("nothing was changed");
  if (agent !== null) noteForecast(context, agent, file.judge(file.text).effective);
}

async function save(
  { out, projectDir }: Context,
  agent: string | null,
  file: ConfigFile,
  edits: readonly Edit[],
): Promise<void> {
  const text = edited(file.text, edits);
  const added = newProblems(file, text);
  refuseProblems(added);
  if (agent !== null) noteForecast({ out, projectDir }, agent, file.judge(text).effective);
  await writeConfig(file, text);
  await writeSchemas(projectDir);
  for (const problem of added) out.note(`warning: ${problemText(problem)}`);
  const notes = agent === null ? await unknownModelNotes(projectDir, edits) : [];
  for (const text of notes) out.note(`warning: ${text}`);
  const changed = edits.map(({ path }) => path.join("."));
  out.answer({ file: file.path, changed }, `${file.path}: ${changed.join(", ")} changed`);
}

function show({ out, projectDir }: Context, agent: string | null, file: ConfigFile): void {
  const { problems, effective } = file.judge(file.text);
  if (effective === null) {
    throw new UserError("invalid_config", problems.map(problemText).join("\n"));
  }
  if (out.json) return out.document({ file: file.path, config: effective });
  for (const line of tomlLines(effective)) out.data(line);
  if (agent !== null) noteForecast({ out, projectDir }, agent, effective);
}

/** The assumptions about unknown models that the edits changed. */
async function unknownModelNotes(
  projectDir: string,
  edits: readonly Edit[],
): Promise<readonly string[]> {
  const names = edits.flatMap(({ path: [table, name] }) =>
    table === "models" && name !== undefined ? [name] : [],
  );
  if (names.length === 0) return [];
  const change = resolveProject(await readProject(projectDir), filterTable);
  if (change.type === "invalid") return [];
  const changed = Object.values(change.project.models).filter(({ name }) => names.includes(name));
  return (await unknownModels(changed)).map(({ problem, fix }) => `${problem}; ${fix}`);
}

/** The keys that people change most; any other needs --set. */
const agentKeys = [
  "schedule",
  "models",
  "credentials",
  "timeout",
  "budget.run",
  "budget.day",
  "scale",
  "timezone",
  "catchUp",
  "callable",
  "tags",
  "maxWorkQueueSize",
  "runtime.type",
  "runtime.run_as",
];
const projectKeys = [
  "gateway.port",
  "gateway.host",
  "timezone",
  "scale",
  "workQueueSize",
  "local.memory",
  "local.cpus",
  "local.timeout",
  "budget.run",
  "budget.day",
  "budget.month",
  "historyRetentionDays",
];

const done = "";

/** Asks for keys and values, each checked at once, until the person has finished. */
async function guide(file: ConfigFile, agent: string | null, prompts: Prompts): Promise<Edit[]> {
  const keys = agent === null ? projectKeys : agentKeys;
  const edits: Edit[] = [];
  for (;;) {
    const text = edited(file.text, edits);
    const choices: Choice<string>[] = [
      { value: done, name: edits.length === 0 ? "change nothing" : "save" },
      ...keys.map((key) => ({ value: key, name: `${key} = ${shown(valueIn(text, key))}` })),
    ];
    const key = await prompts.choose("What to change", choices);
    if (key === done) return edits;
    const current = valueIn(text, key);
    const answer = await prompts.text({
      message: `${key} (leave empty to remove)`,
      ...(current === undefined ? {} : { default: shown(current) }),
      problem: (given) => problemOf(file, [...edits, editFor(key, given)]),
    });
    edits.push(editFor(key, answer));
  }
}

function editFor(key: string, answer: string): Edit {
  return answer.trim() === "" ? { path: parseKey(key) } : parseSetting(`${key}=${answer}`);
}

function problemOf(file: ConfigFile, edits: readonly Edit[]): string | null {
  try {
    return newProblems(file, edited(file.text, edits)).find(isRefused)?.message ?? null;
  } catch (error) {
    if (error instanceof UserError) return messageOf(error);
    throw error;
  }
}

function valueIn(text: string, key: string): unknown {
  return parseKey(key).reduce<unknown>(
    (inner, part) =>
      typeof inner === "object" && inner !== null
        ? (inner as Record<string, unknown>)[part]
        : undefined,
    parse(text),
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "(not set)";
  return typeof value === "string" ? value : JSON.stringify(value);
}
