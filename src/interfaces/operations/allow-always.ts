import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Edit } from "../../foundation/config/edit-toml.ts";
import { allowEntry, isFor, parseAllowEntry } from "../../foundation/contracts/network-allow.ts";
import type { Question } from "../../foundation/contracts/questions.ts";
import { allowEdit, resolved } from "./allow-host.ts";
import { applyEdit, filesOf } from "./edit-file.ts";
import type { EditContext } from "./edit-file.ts";

/** An approval that a person answered with `always`. */
export type AllowedAlways = Pick<Question, "agent" | "kind" | "subject">;

/**
 * Removes a host, an agent or a tool from `[approve]` in the agent's own file, and adds a host to its `[network].allow`. A wildcard
 * stays, and no longer holds that host. Rejects as `editFile` does; with `dryRun` nothing is written.
 */
export async function allowAlways(
  { agent, kind, subject }: AllowedAlways,
  dryRun: boolean,
  context: EditContext,
): Promise<void> {
  const files = await filesOf(agent, context);
  const config = resolved(files, context.project$.value);
  const edits =
    kind === "host"
      ? hostEdits(subject, config)
      : liftEdits(kind === "tool" ? "tools" : "agents", subject, config);
  const { edited } = await import("../../foundation/config/edit-toml.ts");
  const after = edited(files.config ?? "", edits);
  await applyEdit({ files, file: "config.toml", after, dryRun }, context);
}

function hostEdits(subject: string, { approve, network }: AgentConfig): readonly Edit[] {
  const asked = parseAllowEntry(subject);
  if (typeof asked === "string") throw new Error(asked);
  const { host, port } = asked;
  const parsed = (approve?.hosts ?? []).map((text) => ({ text, entry: parseAllowEntry(text) }));
  const held = parsed.flatMap(({ text, entry }) =>
    typeof entry !== "string" && isFor(entry, host, port) ? [{ ...entry, text }] : [],
  );
  const exact = held.filter(({ isWildcard }) => !isWildcard).map(({ text }) => text);
  const isPrivate = held.some((entry) => entry.isPrivate);
  const entry = allowEntry({ host, port, ...(isPrivate && { isPrivate }) });
  const rest = parsed.map(({ text }) => text).filter((text) => !exact.includes(text));
  const lift = exact.length === 0 ? [] : [{ path: ["approve", "hosts"], value: rest }];
  return [...lift, ...allowEdit(entry, network)];
}

/** Removes a name from a list of `[approve]`. */
function liftEdits(
  key: "agents" | "tools",
  subject: string,
  { approve }: AgentConfig,
): readonly Edit[] {
  const names = approve?.[key] ?? [];
  if (!names.includes(subject)) return [];
  return [{ path: ["approve", key], value: names.filter((name) => name !== subject) }];
}
