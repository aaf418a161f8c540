import { map } from "rxjs";
import type { Observable } from "rxjs";
import { agentScope } from "../../foundation/contracts/budget.ts";
import { createCalendar } from "./rules/windows.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { SpendMeter } from "../../foundation/contracts/spend.ts";

/** What runs spend as they spend it, with what their agents spent today. */
export function spentEvents(
  meter: Pick<SpendMeter, "spent$" | "limits">,
  timezone: () => string,
  now: () => number,
): Observable<RunEvent> {
  const calendar = createCalendar();
  return meter.spent$.pipe(
    map(({ agent, instanceId, usd }) => {
      const at = now();
      const { key: date, endsAt } = calendar(at, timezone()).day;
      const own = agentScope(agent);
      const states = meter.limits([agent]);
      const today = states.find(({ scope, window }) => scope === own && window === date);
      const spent = { usd: today?.usd ?? 0, endsAt };
      return { type: "spent", agent, at, instanceId, usd, today: spent } as const;
    }),
  );
}
