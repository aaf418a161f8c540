import type { InputOf } from "../../src/foundation/operation.ts";
import type { NamedOperations } from "../../src/interfaces/operations/table.ts";

type Given = InputOf<NamedOperations["POST /api/agents/:name/backfill"]>;

/** A backfill of one slot, the first one of the range. */
export function fakeBackfill(
  { name: agent, since: at, dryRun = false }: Given,
  called: (...words: readonly unknown[]) => void,
) {
  called("backfill", agent, at, dryRun);
  return { success: true as const, agent, slots: [{ schedule: "", at, reason: "missed: asleep" }] };
}
