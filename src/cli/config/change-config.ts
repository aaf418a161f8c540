import { problemText } from "../../../streams/problem-text.ts";
import { UserError } from "../../errors.ts";
import type { Context } from "../context.ts";
import { openPrompts } from "../prompts.ts";
import { writeSchemas } from "../schema-files.ts";
import { isRefused, newProblems, openConfig, writeConfig } from "./config-file.ts";
import type { ConfigFile } from "./config-file.ts";
import { tomlLines } from "./as-written.ts";
import { edited, missingKey, parseKey, parseSetting } from "./edit-toml.ts";
import type { Edit } from "./edit-toml.ts";
import { guide } from "./guide.ts";

export interface ConfigOptions {
  readonly set: readonly string[];
  readonly unset: readonly string[];
}

/** Changes a `config.toml` by flags, or by questions on a terminal; without either it prints what is in force. */
export async function changeConfig(
  context: Context,
  agent: string | null,
  options: ConfigOptions,
): Promise<void> {
  const file = await openConfig(context.projectDir, agent);
  const edits = [
    ...options.set.map(parseSetting),
    ...options.unset.map((key): Edit => ({ path: parseKey(key) })),
  ];
  for (const { path, value } of edits) if (value === undefined) refuseUnset(file, path);
  if (edits.length > 0) return save(context, file, edits);
  const prompts = await openPrompts(context);
  if (prompts === null) return show(context, file);
  const chosen = await guide(file, agent, prompts);
  if (chosen.length > 0) return save(context, file, chosen);
  context.out.note("nothing was changed");
}

async function save(context: Context, file: ConfigFile, edits: readonly Edit[]): Promise<void> {
  const { out, projectDir } = context;
  const text = edited(file.text, edits);
  const added = newProblems(file, text);
  const refused = added.filter(isRefused);
  if (refused.length > 0) {
    throw new UserError("invalid_config", refused.map(problemText).join("\n"), {
      hint: "nothing was written",
    });
  }
  await writeConfig(file, text);
  await writeSchemas(projectDir);
  for (const problem of added) out.note(`warning: ${problemText(problem)}`);
  const changed = edits.map(({ path }) => path.join("."));
  if (out.json) return out.document({ file: file.path, changed });
  out.data(`${file.path}: ${changed.join(", ")} changed`);
}

/** What is not there can't be taken out: whoever tries meant another key. */
function refuseUnset({ path: file, text }: ConfigFile, path: readonly string[]): void {
  const near = missingKey(text, path);
  if (near === null) return;
  throw new UserError("unknown_key", `${file} has no key ${path.join(".")}${near}`, {
    hint: "nothing was written",
  });
}

function show({ out }: Context, file: ConfigFile): void {
  const { problems, effective } = file.judge(file.text);
  if (effective === null) {
    throw new UserError("invalid_config", problems.map(problemText).join("\n"));
  }
  if (out.json) return out.document({ file: file.path, config: effective });
  for (const line of tomlLines(effective)) out.data(line);
}
