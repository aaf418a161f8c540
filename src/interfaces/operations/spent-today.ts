import { agentScope } from "../../foundation/contracts/budget.ts";
import { usdOfNano } from "../../foundation/contracts/money.ts";
import { createCalendar } from "../../features/spend/rules/windows.ts";
import type { DaySpend } from "../../../streams/vocabulary.ts";
import type { SpendStore } from "../../foundation/contracts/spend.ts";

/** What the store has of an agent's spending today, in the project's time zone; null for nothing. */
export function spentTodayIn(
  spend: Pick<SpendStore, "account">,
  timezone: () => string,
): (agent: string) => DaySpend | null {
  const calendar = createCalendar();
  return (agent) => {
    const { day } = calendar(Date.now(), timezone());
    const account = spend.account(agentScope(agent), day.key);
    return account && { usd: usdOfNano(account.spent), endsAt: day.endsAt };
  };
}
