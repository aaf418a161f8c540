import { readProject } from "../../config/read-project.ts";
import { resolveProject } from "../../config/resolve-project.ts";
import { unknownModels } from "../../models/unknown-models.ts";
import { filterTable } from "../../webhooks/providers/table.ts";
import type { Edit } from "./edit-toml.ts";

/** What is assumed of those models of the project that the edits changed and that are not known. */
export async function unknownModelNotes(
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
  return (await unknownModels(changed)).map(({ what, fix }) => `${what}; ${fix}`);
}
