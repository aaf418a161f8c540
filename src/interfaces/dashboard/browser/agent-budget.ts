import type { AgentStatus } from "../../../../streams/status/wire.ts";
import type {
  BudgetRaised,
  SpendAnswer,
  SpendLimit,
} from "../../../foundation/contracts/spend-report.ts";
import {
  dollars,
  forecastText,
  scopeName,
  spentText,
  usedBudgetText,
} from "../../../foundation/contracts/spend-text.ts";
import { announce, post } from "./actions.ts";
import { fetchJson } from "./api.ts";
import { isDay } from "./cost-figures.ts";
import { byId, create, setText } from "./dom.ts";

/** What an agent spends of which limits, and the dialog that raises them. */
export interface AgentBudget {
  show(agent: AgentStatus): void;
  tick(now: number): void;
}

/** Adding up takes the scheduler a moment: it is not asked for each call to a model. */
const refreshMs = 5_000;

/** Fills the panel and the notice of an agent's page, and connects their buttons. */
export function createAgentBudget(name: string): AgentBudget {
  let used: AgentStatus["usedBudget"] = null;
  let shown = "";
  let isChanged = false;
  let askedAt = 0;

  const showUsed = (now: number): void => {
    byId("used-budget").hidden = used === null;
    if (used !== null) setText(byId("used-budget-text"), sentence(usedBudgetText(used, now)));
  };
  const refresh = async (): Promise<void> => {
    isChanged = false;
    askedAt = Date.now();
    const path = `/api/spend?agent=${encodeURIComponent(name)}`;
    const fetched = await fetchJson<SpendAnswer>(path);
    if (fetched.ok) byId("budget").replaceChildren(...factsOf(fetched.value));
  };
  wireRaise(
    () => used?.scope ?? `agent:${name}`,
    () => {
      isChanged = true;
    },
  );
  return {
    show: ({ usedBudget, spentToday, runningUsd }) => {
      used = usedBudget;
      showUsed(Date.now());
      const now = JSON.stringify([usedBudget, spentToday, runningUsd]);
      isChanged ||= now !== shown;
      shown = now;
      if (askedAt === 0) void refresh();
    },
    tick: (now) => {
      showUsed(now);
      if (isChanged && now - askedAt >= refreshMs) void refresh();
    },
  };
}

function sentence(text: string): string {
  return `It ${text}.`;
}

/** The project's limits count for the agent, too; windows without a limit show what was spent. */
function factsOf({ limits, forecast }: SpendAnswer): readonly HTMLElement[] {
  const own = limits.filter(({ scope }) => scope !== "project");
  const ofProject = limits.filter(({ scope, limit }) => scope === "project" && limit !== null);
  const facts = [...own, ...ofProject].map((limit) => [labelOf(limit), spentText(limit)] as const);
  const all = forecast === null ? facts : [...facts, ["Forecast", forecastText(forecast)] as const];
  return all.flatMap(([label, text]) => [create("dt", "", label), create("dd", "", text)]);
}

function labelOf(limit: SpendLimit): string {
  const window = isDay(limit) ? "Today" : "This month";
  return limit.scope === "project" ? `${window}, project` : window;
}

/** Connects the buttons that ask for an amount; `scopeNow` is whose limits it is added to. */
function wireRaise(scopeNow: () => string, onRaised: () => void): void {
  const dialog = byId("raise-dialog", HTMLDialogElement);
  const input = byId("raise-usd", HTMLInputElement);
  let scope = "";
  let whose = "";
  for (const button of document.querySelectorAll("button.raise")) {
    button.addEventListener("click", () => {
      scope = scopeNow();
      whose = scope === "project" ? "the project" : scopeName(scope);
      setText(byId("raise-title"), `Raise the budget of ${whose}`);
      dialog.showModal();
    });
  }
  byId("raise-cancel").addEventListener("click", () => dialog.close());
  byId("raise-form", HTMLFormElement).addEventListener("submit", () => {
    const usd = input.valueAsNumber;
    const path = `/api/budgets/${encodeURIComponent(scope)}/raise`;
    void post<BudgetRaised>(path, { usd }).then((answer) => {
      if (answer === null) return;
      announce(`Raised the budget of ${whose} by ${dollars(usd)}`);
      onRaised();
    });
  });
}
