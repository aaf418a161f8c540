import type { ReadAccount } from "../../../../src/features/spend/rules/accounts.ts";
import { defaultBudget } from "../../../../src/foundation/contracts/budget.ts";
import type { Budget } from "../../../../streams/agent-config.ts";
import type {
  Budgets,
  AccountKey,
  StoredAccount,
} from "../../../../src/foundation/contracts/budget.ts";
import type {
  LedgerCommand,
  LedgerEvent,
  ReserveCommand,
} from "../../../../src/features/spend/rules/ledger-events.ts";
import { createLedger } from "../../../../src/features/spend/rules/ledger.ts";
import { worstRates } from "../../../../src/foundation/contracts/price.ts";

const unlimited: Budget = { ...defaultBudget, runUsd: null };

export const noon = Date.parse("2026-11-22T12:00:00Z");
export const cent = 10_000_000;

/** Budgets with the limits of a test only. */
export function budgets(own: Partial<Budget> = {}, shared: Partial<Budget> = {}): Budgets {
  const [agent, project] = [
    { ...unlimited, ...own },
    { ...unlimited, ...shared },
  ];
  return { agent, project, timezone: "UTC" };
}

/** A dollar for a million tokens, so a thousand nano-dollars for each. */
export const dollar = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };

/** A call of no input that asks for 10,000 tokens: a cent. */
export function reserve(call: string, more: Partial<ReserveCommand> = {}): ReserveCommand {
  return {
    type: "reserve",
    call,
    instanceId: "dev-1",
    agent: "dev",
    requestBytes: 0,
    approved: null,
    maxOutputTokens: 10_000,
    modelMaxTokens: 64_000,
    minOutputTokens: 1_024,
    rates: worstRates(dollar, 1, false),
    budgets: budgets(),
    ...more,
  };
}

/** A call ends for nothing, with an answer. */
export function settle(
  call: string,
  more: Partial<Extract<LedgerCommand, { type: "settle" }>> = {},
): LedgerCommand {
  return {
    type: "settle",
    call,
    nano: 0,
    inputTokens: 0,
    isTurn: true,
    tokens: 0,
    budgets: budgets(),
    ...more,
  };
}

export const raise = (scope: string, nano: number, ...runs: readonly string[]): LedgerCommand => ({
  type: "raise",
  scope,
  nano,
  runs,
  timezone: "UTC",
});

/** The accounts in a store, from the events of a ledger. */
export function createBooks() {
  const books = new Map<string, StoredAccount & { reserved: number }>();
  const none = { spent: 0, reserved: 0, raised: 0, warned: 0, turns: 0, tokens: 0 };
  const name = ({ scope, window }: Pick<AccountKey, "scope" | "window">) => `${scope} ${window}`;
  const of = (key: Pick<AccountKey, "scope" | "window">) => books.get(name(key)) ?? none;
  const add = (key: AccountKey, more: Partial<typeof none>) => {
    const had = of(key);
    const sum = (field: keyof typeof none) => had[field] + (more[field] ?? 0);
    books.set(name(key), {
      spent: sum("spent"),
      reserved: sum("reserved"),
      raised: sum("raised"),
      warned: Math.max(had.warned, more.warned ?? 0),
      turns: sum("turns"),
      tokens: 0,
    });
  };
  const onEvent = (event: LedgerEvent) => {
    if (event.type === "warned") return add(event.account, { warned: event.percent });
    if (event.type === "refused") return;
    for (const key of event.accounts) {
      const run = key.scope.startsWith("run:") ? 1 : 0;
      if (event.type === "reserved") add(key, { reserved: event.nano, turns: run });
      if (event.type === "raised") add(key, { raised: event.nano });
      if (event.type !== "settled") continue;
      add(key, { spent: event.nano, reserved: -event.reserved, turns: event.isTurn ? 0 : -run });
    }
  };
  return {
    of,
    onEvent,
    read: (scope: string, window: string): StoredAccount | null =>
      books.get(name({ scope, window })) ?? null,
    /** The scheduler died: reserved money counts as spent. */
    crash: () => {
      for (const [key, one] of books) {
        books.set(key, { ...one, spent: one.spent + one.reserved, reserved: 0 });
      }
    },
  };
}

/** A ledger whose events are stored, unless a test gives the stored accounts; its calls have these budgets. */
export function ledgerOf(limited: Budgets = budgets(), stored?: ReadAccount) {
  const books = createBooks();
  const ledger = createLedger(stored ?? books.read);
  const open: string[] = [];
  let calls = 0;
  const apply = (command: LedgerCommand, at = noon) => {
    const events = ledger.apply(command, at);
    events.forEach(books.onEvent);
    return events;
  };
  return {
    ledger,
    apply,
    ask: (more: Partial<ReserveCommand> = {}, at = noon): LedgerEvent => {
      const [event] = apply(reserve(`${++calls}`, { budgets: limited, ...more }), at);
      if (event === undefined) throw new Error("no event");
      if (event.type === "reserved") open.push(event.call);
      return event;
    },
    /** Settles the oldest open call. */
    settle: (nano: number, more: Parameters<typeof settle>[1] = {}, at = noon) =>
      apply(settle(open.shift() ?? "none", { nano, budgets: limited, ...more }), at),
  };
}
