import { useRef, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import type {
  BudgetRaised,
  SpendAnswer,
  SpendLimit,
} from "../../../../features/spend/spend-report.ts";
import {
  dollars,
  forecastText,
  scopeName,
  spentText,
  usedBudgetText,
} from "../../../../features/spend/spend-text.ts";
import { maxRaiseUsd, projectScope } from "../../../../foundation/contracts/budget.ts";
import { sentenceOf } from "../../../../foundation/contracts/format.ts";
import { post } from "../../live/api.ts";
import { useTicking } from "../../live/clock.ts";
import { announce } from "../../live/toasts.ts";
import { isDay } from "../../text/format.ts";
import { Dialog, useDialog } from "../../kit/dialog.tsx";
import { FactList, Panel, type Fact } from "../../kit/panel.tsx";
import { pathOf } from "../../text/addresses.ts";

/** The spending of an agent: a notice while the budget is used up, a panel, and the dialog that raises the limits. */
export function useBudget(
  name: string,
  agent: AgentStatus | null,
  spending: { readonly value: SpendAnswer | null; readonly refresh: () => void },
) {
  const [scope, setScope] = useState("");
  const dialog = useDialog();
  const field = useRef<HTMLInputElement>(null);
  const used = agent?.usedBudget ?? null;
  const text = useTicking((now) => used && sentenceOf(usedBudgetText(used, now)));
  const whose = scope === projectScope ? "the project" : scopeName(scope);
  const ask = (): void => {
    setScope(used?.scope ?? `agent:${name}`);
    dialog.open();
  };
  const raise = async (): Promise<void> => {
    const usd = field.current?.valueAsNumber ?? 0;
    const path = pathOf`/api/budgets/${scope}/raise`;
    if ((await post<BudgetRaised>(path, { usd })) === null) return;
    announce(`Raised the budget of ${whose} by ${dollars(usd)}`);
    spending.refresh();
  };
  return {
    notice: (
      <p class="notice warning" id="used-budget" role="status" hidden={text === null}>
        <span id="used-budget-text">{text}</span>{" "}
        <button type="button" class="link acts" onClick={ask}>
          Raise …
        </button>
      </p>
    ),
    panel: (
      <Panel
        id="cost"
        title="Cost"
        after={
          <button type="button" class="link after acts" onClick={ask}>
            Raise budget …
          </button>
        }
      >
        <FactList id="budget" facts={spending.value === null ? [] : factsOf(spending.value)} />
      </Panel>
    ),
    dialog: (
      <Dialog
        id="raise-dialog"
        title={`Raise the budget of ${whose}`}
        confirm="Raise"
        onConfirm={() => void raise()}
        {...dialog}
      >
        <label for="raise-usd">US dollars added to its limits until they reset</label>
        <input
          type="number"
          id="raise-usd"
          min="0.01"
          max={maxRaiseUsd}
          step="0.01"
          defaultValue="1"
          required
          ref={field}
        />
      </Dialog>
    ),
  };
}

/** The project's limits apply to the agent, too; windows without a limit show the spent amount. */
function factsOf({ limits, forecast }: SpendAnswer): readonly Fact[] {
  const isOfProject = ({ scope }: SpendLimit): boolean => scope === projectScope;
  const own = limits.filter((limit) => !isOfProject(limit));
  const ofProject = limits.filter((limit) => isOfProject(limit) && limit.limit !== null);
  const facts = [...own, ...ofProject].map((limit): Fact => {
    const window = isDay(limit) ? "Today" : "This month";
    return [isOfProject(limit) ? `${window}, project` : window, spentText(limit)];
  });
  return forecast === null ? facts : [...facts, ["Forecast", forecastText(forecast)]];
}
