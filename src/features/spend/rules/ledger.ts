import { capOf } from "./accounts.ts";
import type { Account, LimitedAccount, ReadAccount } from "./accounts.ts";
import { allot, type Shortage } from "./allot.ts";
import { createChargedAccounts } from "./charged-accounts.ts";
import { limitsOf, runScope } from "../../../foundation/contracts/budget.ts";
import type { Budgets, AccountKey } from "../../../foundation/contracts/budget.ts";
import { createInputEstimates, type InputEstimates } from "./input-estimate.ts";
import type {
  BudgetRefusal,
  LedgerCommand,
  LedgerEvent,
  RaiseCommand,
  ReserveCommand,
  RunTotals,
  SettleCommand,
} from "./ledger-events.ts";
import type { NanoUsd } from "../../../foundation/contracts/money.ts";

interface OpenCall {
  readonly reserve: ReserveCommand;
  readonly nano: NanoUsd;
  readonly ofRun: Account;
  readonly accounts: readonly Account[];
}

interface OpenRun {
  readonly estimates: InputEstimates;
  open: number;
  isOver: boolean;
}

/**
 * Reserves the highest cost of a call before it begins and settles it after, so that spent and reserved money stay
 * within every limit in whatever order calls begin and end.
 *
 *     commands:  ─r1──r2──s1──────r3──     r reserve, s settle
 *     events:    ─g1──x2──(s1 w)──g3──     g reserved, x refused, s settled, w warned
 */
export function createLedger(read: ReadAccount) {
  const accounts = createChargedAccounts(read);
  const { whole, runAccount, windowsOf, sharedAccounts, projectAccounts } = accounts;
  const calls = new Map<string, OpenCall>();
  const runs = new Map<string, OpenRun>();

  const reserve = (command: ReserveCommand, now: number): LedgerEvent => {
    const { call, instanceId, agent, budgets } = command;
    const limits = limitsOf(budgets);
    const ofRun = runAccount(instanceId, now);
    if (limits.turns !== null && ofRun.turns >= limits.turns) {
      return { type: "refused", call, refusal: { code: "too_many_turns", turns: limits.turns } };
    }
    const charged = [{ account: ofRun, limit: limits.run }, ...sharedAccounts(agent, budgets, now)];
    const open = runs.get(instanceId) ?? newRun();
    const inputTokens = open.estimates.estimate(command.requestBytes);
    const approved = approvedOf(ofRun, command.approved);
    const allotted = allot({ ...command, inputTokens }, [...charged, ...approved]);
    if ("short" in allotted) {
      const refusal = refusalOf(allotted, approved.includes(allotted.short));
      return { type: "refused", call, refusal };
    }
    runs.set(instanceId, open);
    open.open++;
    ofRun.turns++;
    const { nano, maxOutputTokens } = allotted;
    const all = charged.map(({ account }) => account);
    for (const account of all) reserveNano(account, nano);
    calls.set(call, { reserve: command, nano, ofRun, accounts: all });
    const run = totalsOf(ofRun);
    return { type: "reserved", call, nano, maxOutputTokens, accounts: all.map(keyOf), run };
  };

  const settle = (command: SettleCommand, now: number): readonly LedgerEvent[] => {
    const open = calls.get(command.call);
    if (open === undefined) return [];
    calls.delete(command.call);
    const { call, nano, isTurn } = command;
    const { ofRun, accounts: charged, nano: reserved } = open;
    for (const account of charged) settleNano(account, { reserved, spent: nano, now });
    if (!isTurn) ofRun.turns--;
    ofRun.tokens += command.tokens;
    settleRun(open.reserve, command.inputTokens);
    const run = totalsOf(ofRun);
    return [
      { type: "settled", call, nano, reserved, isTurn, accounts: charged.map(keyOf), run },
      ...warningsOf(open, command.budgets),
    ];
  };
  const settleRun = (reserved: ReserveCommand, inputTokens: number | null): void => {
    const run = runs.get(reserved.instanceId);
    if (run === undefined) return;
    run.open--;
    if (inputTokens !== null) run.estimates.learn(reserved.requestBytes, inputTokens);
    if (run.isOver) end(reserved.instanceId);
  };
  const end = (instanceId: string): void => {
    const run = runs.get(instanceId);
    if (run !== undefined) run.isOver = true;
    if (run !== undefined && run.open > 0) return;
    runs.delete(instanceId);
    accounts.forgetRun(instanceId);
  };

  const raise = ({ scope, nano, runs: live, timezone }: RaiseCommand, now: number): LedgerEvent => {
    const ofRuns = live.map((instanceId) => runAccount(instanceId, now));
    const isRun = scope.startsWith(runScope(""));
    const own = isRun ? [whole(scope, now)] : windowsOf(scope, timezone, now);
    const raised = [...own, ...ofRuns];
    for (const account of raised) account.raised += nano;
    return { type: "raised", nano, accounts: raised.map(keyOf) };
  };

  return {
    apply: (command: LedgerCommand, now: number): readonly LedgerEvent[] => {
      switch (command.type) {
        case "reserve":
          return [reserve(command, now)];
        case "settle":
          return settle(command, now);
        case "raise":
          return [raise(command, now)];
        case "ended":
          end(command.instanceId);
          return [];
      }
    },
    /** The accounts that a call of the agent is charged to now, without its run's. */
    accountsOf: sharedAccounts,
    /** The accounts that calls of all agents are charged to. */
    projectAccounts,
    /** The account of a run. */
    runAccount,
    /** Accounts, runs and open calls in memory. */
    size: (): number => accounts.size() + runs.size + calls.size,
  };
}

/** Spending and limits. Times are epoch ms. */
export type Ledger = ReturnType<typeof createLedger>;

function reserveNano(account: Account, nano: NanoUsd): void {
  account.reserved += nano;
  account.open++;
  account.neededCap = null;
}

function settleNano(
  account: Account,
  { reserved, spent, now }: Readonly<Record<"reserved" | "spent" | "now", number>>,
): void {
  account.reserved -= reserved;
  account.spent += spent;
  account.open--;
  account.usedAt = now;
}

/** The account of a run with the approved amount as its limit, which raises of its budget do not change. */
function approvedOf(account: Account, approved: NanoUsd | null): readonly LimitedAccount[] {
  if (approved === null) return [];
  return [{ account, limit: { nano: approved - account.raised, warnAt: [] } }];
}

/** Stores that the account can't pay a call, so that no run is started to find out again. */
function refusalOf({ short, needed, mayComeBack }: Shortage, isApproval: boolean): BudgetRefusal {
  const { account } = short;
  const cap = capOf(short) ?? 0;
  const { spent, reserved } = account;
  if (!mayComeBack && !isApproval) account.neededCap = spent + needed;
  const amounts = { cap, spent, reserved, needed };
  const code = isApproval ? "not_approved" : "budget_exceeded";
  return { code, ...keyOf(account), ...amounts, mayComeBack };
}

function warningsOf(open: OpenCall, budgets: Budgets): readonly LedgerEvent[] {
  const { run, agentDay, agentMonth, projectDay, projectMonth } = limitsOf(budgets);
  const limits = [run, agentDay, agentMonth, projectDay, projectMonth];
  return open.accounts.flatMap((account, index) => {
    const limit = limits[index];
    return limit === undefined ? [] : warningOf({ account, limit });
  });
}

/** A warning for a passed percentage, once per window. */
function warningOf(limited: LimitedAccount): readonly LedgerEvent[] {
  const { account, limit } = limited;
  const cap = capOf(limited);
  if (cap === null || cap <= 0) return [];
  const passed = limit.warnAt.filter((percent) => account.spent * 100 >= cap * percent);
  const percent = Math.max(0, ...passed);
  if (percent <= account.warned) return [];
  account.warned = percent;
  return [{ type: "warned", account: keyOf(account), percent, spent: account.spent, cap }];
}

function newRun(): OpenRun {
  return { estimates: createInputEstimates(), open: 0, isOver: false };
}

function totalsOf({ spent, reserved, turns, tokens }: Account): RunTotals {
  return { spent, reserved, turns, tokens };
}

function keyOf({ scope, window, endsAt }: AccountKey): AccountKey {
  return { scope, window, endsAt };
}
