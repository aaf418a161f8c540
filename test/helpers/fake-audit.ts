import type { AuditEntryView } from "../../src/features/people/audit-report.ts";
import { atTerminal, type Person } from "../../src/foundation/contracts/questions.ts";
import type { Audit } from "../../src/features/people/audit.ts";

/** An audit trail in this list, the latest first. */
export function fakeAudit(acts: AuditEntryView[]): Audit {
  return {
    recordAct: (given, person?: Person) => {
      const { act, agent = null, instanceId = null, detail } = given;
      const by = person ?? atTerminal;
      const about = { agent, instanceId, detail: detail ?? "" };
      acts.unshift({ id: acts.length + 1, at: new Date().toISOString(), act, ...about, by });
    },
    page: ({ limit, act, by, before = Infinity }) => {
      const found = acts
        .filter((one) => (act ?? one.act) === one.act && one.id < before)
        .filter((one) => by === undefined || [one.by.via, one.by.name].includes(by));
      const next = found.length > limit ? (found[limit - 1]?.id ?? null) : null;
      return { entries: found.slice(0, limit), next };
    },
  };
}
