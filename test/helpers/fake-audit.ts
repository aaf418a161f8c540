import type { AuditEntryView } from "../../src/features/people/audit-report.ts";
import { atTerminal, type Person } from "../../src/foundation/contracts/questions.ts";
import type { Operations } from "../../src/interfaces/operations/operations.ts";

/** Operations that keep the acts in a list, the latest first. */
export function fakeAuditOperations(
  acts: AuditEntryView[],
): Pick<Operations, "recordAct" | "audit"> {
  return {
    recordAct: (given, person?: Person) => {
      const { act, agent = null, instanceId = null, detail } = given;
      const by = person ?? atTerminal;
      const about = { agent, instanceId, detail: detail ?? "" };
      acts.unshift({ id: acts.length + 1, at: new Date().toISOString(), act, ...about, by });
    },
    audit: ({ limit, act, by, before = Infinity }) => {
      const found = acts
        .filter((one) => (act ?? one.act) === one.act && one.id < before)
        .filter((one) => by === undefined || [one.by.via, one.by.name].includes(by));
      const next = found.length > limit ? (found[limit - 1]?.id ?? null) : null;
      return { entries: found.slice(0, limit), next };
    },
  };
}
