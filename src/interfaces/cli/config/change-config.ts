import { problemText } from "../../../../streams/problem-text.ts";
import { Problem, usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { schemaOf, writeSchemas, type SchemaName } from "../../../runtime/agents/editor-schemas.ts";
import { newProblems, refuseProblems } from "../../../runtime/agents/project-files.ts";
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

interface ConfigOptions {
  readonly schema?: SchemaName;
  readonly set: readonly string[];
  /** Values to add to a list. */
  readonly add: readonly string[];
  readonly unset: readonly string[];
}

/**
 * Changes a `config.toml` by flags; without any it prints the active config. For a directory with only a SKILL.md, the
 * flags make one.
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
      throw usageError("--schema prints and changes nothing");
    }
    return context.out.data(JSON.stringify(schemaOf(options.schema), null, 2));
  }
  const bare = agent === null ? null : await openBareSkill(context.projectDir, agent);
  if (bare !== null) return makeConfig(context, bare, edits);
  const file = await openConfig(context.projectDir, agent);
  refuseUnset(file, edits);
  if (edits.length > 0) return save(context, agent, file, edits);
  show(context, agent, file);
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
    throw new Problem("invalid_config", problems.map(problemText).join("\n"));
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
