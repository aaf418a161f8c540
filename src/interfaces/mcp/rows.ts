import { agentSchema } from "../../../streams/status/wire.ts";
import { historyEntrySchema } from "../../foundation/contracts/history.ts";
import type { InputOf } from "../../foundation/operation.ts";
import type { NamedOperations } from "../operations/table.ts";
import type { HistoryEntry } from "../../foundation/contracts/history.ts";
import type { ToolApi } from "./api-call.ts";
import { jsonText, labelled, optionalText } from "./tool.ts";

/** An agent in a list. */
export const agentRow = labelled(
  agentSchema,
  [
    ...(["name", "state", "blockedBy", "enabled", "running", "queued", "lastRunAt"] as const),
    ...(["lastOutcome", "nextRunAt", "triggers", "tags", "spentToday"] as const),
  ],
  ["title", "description", "statusText", "error", "warning"],
);

const entryRow = labelled(
  historyEntrySchema.extend({
    value: optionalText.meta({ description: "The value that the run returned, as JSON" }),
  }),
  [
    ...(["id", "instanceId", "agent", "kind", "at", "outcome", "deadLetter", "attempt"] as const),
    ...(["durationMs", "exitCode", "costUsd", "receiptId", "replayOf"] as const),
  ],
  ["reason", "source", "event", "action", "value"],
);

/** An entry of the history. */
export const runRow = {
  schema: entryRow.schema,
  of: (entry: HistoryEntry) => entryRow.of({ ...entry, value: jsonText(entry.value) }),
};

/** A page of the trigger history. */
export async function history(
  api: ToolApi,
  query: InputOf<NamedOperations["GET /api/stats/triggers"]>,
) {
  const { triggers, nextBefore } = await api.perform("GET /api/stats/triggers", query);
  return { rows: triggers.map(runRow.of), next: nextBefore };
}
