import { filterTable } from "../../webhooks/providers/table.ts";
import { keyNote } from "./remark.ts";
import type { KeyRemark } from "./remark.ts";
import { isTable, tableAt, textAt } from "./tables.ts";
import type { Table } from "./tables.ts";

/**
 * The project's config with the webhook sources that agents name and it lacks, as in agents that come without a
 * project: a name such as `github` or `my-github` tells the type.
 */
export function withGuessedSources(
  config: Table,
  agents: readonly Table[],
): { readonly config: Table; readonly remarks: readonly KeyRemark[] } {
  const sources: Record<string, unknown> = { ...tableAt(config, "webhooks") };
  const remarks: KeyRemark[] = [];
  for (const name of agents.flatMap(sourcesOf)) {
    const type = Object.keys(filterTable).find((known) => name.toLowerCase().includes(known));
    if (Object.hasOwn(sources, name) || type === undefined) continue;
    sources[name] = { type };
    const message = `agents name the webhook source ${name}, which the project lacked; written as type "${type}"`;
    remarks.push(keyNote(["webhooks", name], message));
  }
  return { config: remarks.length === 0 ? config : { ...config, webhooks: sources }, remarks };
}

function sourcesOf({ webhooks }: Table): readonly string[] {
  const entries = Array.isArray(webhooks) ? webhooks.filter(isTable) : [];
  return entries.map((entry) => textAt(entry, "source")).filter((name) => name !== null);
}
