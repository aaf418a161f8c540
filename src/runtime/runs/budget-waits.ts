import type { RunFunds } from "../../features/spend/run-funds.ts";
import { createSpend } from "../../features/spend/spend-store.ts";
import { Subscription } from "rxjs";
import type { RequestAnswer } from "../wire/protocol.ts";
import type { budgetRequests } from "../wire/requests/waits.ts";
import { needsApproval, waitForApproval } from "./gated-meter.ts";
import type { Gates } from "./gates.ts";
import type { LiveRun, OpenBudgetWait, Performers } from "./live-run.ts";
import { hungUpMs, type PendingRequest } from "./pending-requests.ts";
import type { RequestContext } from "./request-context.ts";

type Pending = PendingRequest<RequestAnswer<"budget-wait">>;

/**
 * Waits of runs for money. They are stored, because a run's clock is paused meanwhile; a repeated request checks again
 * whether there is money.
 */
export function createBudgetWaits(
  { clock, store, funds, onProblem }: RequestContext,
  gates: Gates,
) {
  const spend = store.tables(createSpend);
  const all = new Subscription();
  const logged = (stored: Promise<unknown>): void =>
    void stored.catch((error: unknown) => onProblem(`waiting for budget failed: ${String(error)}`));

  /** The wait has ended; its request must be answered or rejected. */
  const close = (run: LiveRun, wait: OpenBudgetWait): void => {
    const { instanceId } = run;
    const { id: key } = wait.pending;
    wait.over.unsubscribe();
    run.budgetWaits.delete(key);
    if (!wait.isStored) return;
    logged(store.waits.cancel({ instanceId, key, waitedMs: run.clock.waitedMs() }));
  };
  const refuse = (run: LiveRun, wait: OpenBudgetWait, error: unknown): void => {
    if (wait.over.closed) return;
    close(run, wait);
    wait.pending.refuse(error);
  };
  const answer = (run: LiveRun, wait: OpenBudgetWait, paid: boolean): void => {
    close(run, wait);
    if (paid) logged(spend.recordRefusal(run.instanceId, null));
    run.overBudget = paid ? null : (wait.refused ?? run.overBudget);
    wait.pending.answer({ ok: true, paid });
  };
  const add = (run: LiveRun, wait: OpenBudgetWait, text: string): void => {
    const { agent, instanceId } = run;
    wait.isStored = true;
    run.warn(text);
    store.waits
      .addForMoney({ key: wait.pending.id, instanceId, agent, since: clock.now() })
      .catch((error: unknown) => refuse(run, wait, error));
  };

  /**
   * Suspends the run while it is short of money. `isStored` for a wait of an earlier scheduler. Returns a function that
   * cancels the wait.
   */
  const open = (run: LiveRun, pending: Pending, isStored: boolean): (() => void) => {
    const begun = { isStored, isSuspended: false, refused: null };
    const wait: OpenBudgetWait = { pending, over: new Subscription(), ...begun };
    const next = (found: RunFunds): void => {
      if (found.type !== "short") return answer(run, wait, found.type === "paid");
      const { text } = found;
      if (wait.isSuspended) return run.showStatus(text);
      wait.isSuspended = true;
      // A run ended meanwhile does not end for its budget: its work may be retried.
      [wait.refused, run.overBudget] = [run.overBudget, null];
      pending.suspend({ pausesClock: true, text });
      if (!wait.isStored) add(run, wait, text);
    };
    all.add(wait.over);
    run.budgetWaits.set(pending.id, wait);
    const error = (cause: unknown): void => refuse(run, wait, cause);
    wait.over.add(funds(run).subscribe({ next, error }));
    return () => refuse(run, wait, new Error("the run no longer waits for it"));
  };
  const approved = async (
    run: LiveRun,
    signal: AbortSignal,
  ): Promise<RequestAnswer<"budget-wait">> => {
    run.overBudget = await waitForApproval(gates, run, signal);
    await spend.recordRefusal(run.instanceId, run.overBudget);
    return { ok: true, paid: run.overBudget === null };
  };
  const performers: Performers<keyof typeof budgetRequests> = {
    "budget-wait": (run, request) => {
      if (needsApproval(run)) return approved(run, request.signal);
      const begin = (pending: Pending) => open(run, pending, false);
      return run.pending.ask(request, begin, hungUpMs);
    },
  };
  return {
    performers,
    /** An adopted run waits as before, and must repeat its request. */
    resume: (run: LiveRun) => {
      for (const { instanceId, key } of store.waits.allForMoney()) {
        if (instanceId !== run.instanceId || run.budgetWaits.has(key)) continue;
        run.pending.expect(key, (pending: Pending) => open(run, pending, true));
      }
    },
    /** The run has ended. */
    end: (run: LiveRun) => {
      for (const { over } of run.budgetWaits.values()) over.unsubscribe();
      run.budgetWaits.clear();
    },
    stop: () => all.unsubscribe(),
  };
}
