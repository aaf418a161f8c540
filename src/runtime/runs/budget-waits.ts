import { Subscription } from "rxjs";
import type { Observable } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";
import type { RequestAnswer } from "../../foundation/contracts/run-api.ts";
import type { budgetRequests } from "../../foundation/contracts/run-requests/budget.ts";
import type { RunFunds } from "../../foundation/contracts/spend.ts";
import type { Store } from "../../foundation/store/store.ts";
import type { LiveRun, OpenBudgetWait, Performers } from "./live-run.ts";
import { adoptedMs, hungUpMs, requestId } from "./pending-requests.ts";
import type { PendingRequest } from "./pending-requests.ts";

export interface BudgetWaitDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "waits" | "spend">;
  /** Whether the run can pay its model, from now on. */
  readonly funds: (run: Pick<LiveRun, "instanceId" | "request">) => Observable<RunFunds>;
  readonly onProblem: (message: string) => void;
}

export interface BudgetWaitRequests {
  readonly performers: Performers<keyof typeof budgetRequests>;
  /** The run no longer wants the answer to its request. */
  cancel(run: LiveRun, id: string): void;
  /** An adopted run waits as before, and is to ask again. */
  resume(run: LiveRun): void;
  /** The run is over. */
  end(run: LiveRun): void;
  readonly stop: () => void;
}

type Pending = PendingRequest<RequestAnswer<"budget-wait">>;

/**
 * Waits of runs for money. That a run waits is stored, because its clock is paused meanwhile; a request that is repeated
 * finds out anew whether there is money.
 */
export function createBudgetWaits(deps: BudgetWaitDeps): BudgetWaitRequests {
  const { clock, store, onProblem } = deps;
  const all = new Subscription();
  const logged = (stored: Promise<unknown>): void =>
    void stored.catch((error: unknown) => onProblem(`a wait for money: ${String(error)}`));

  /** It is over; its request is to be answered or refused. */
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
  const cancel = (run: LiveRun, wait: OpenBudgetWait): void =>
    refuse(run, wait, new Error("the run no longer waits for it"));
  const answer = (run: LiveRun, wait: OpenBudgetWait, paid: boolean): void => {
    close(run, wait);
    if (paid) logged(store.spend.recordRefusal(run.instanceId, null));
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

  /** Suspends the run while it is short of money. `isStored` for a wait of an earlier scheduler. */
  const open = (run: LiveRun, pending: Pending, isStored: boolean): OpenBudgetWait => {
    const wait: OpenBudgetWait = { pending, over: new Subscription(), isStored, refused: null };
    let isSuspended = false;
    const next = (funds: RunFunds): void => {
      if (funds.type !== "short") return answer(run, wait, funds.type === "paid");
      const { text } = funds;
      if (isSuspended) return run.showStatus(text);
      isSuspended = true;
      // One that is ended meanwhile does not end for its budget: its work may be tried again.
      [wait.refused, run.overBudget] = [run.overBudget, null];
      pending.suspend({ pausesClock: true, text });
      if (!wait.isStored) add(run, wait, text);
    };
    all.add(wait.over);
    run.budgetWaits.set(pending.id, wait);
    const error = (cause: unknown): void => refuse(run, wait, cause);
    wait.over.add(deps.funds(run).subscribe({ next, error }));
    return wait;
  };
  /** The run may only have lost its connection. */
  const onHangUp = (run: LiveRun, wait: OpenBudgetWait, graceMs: number): void => {
    const grace = clock.at(clock.now() + graceMs).subscribe(() => {
      if (!wait.pending.hasCaller()) cancel(run, wait);
    });
    wait.over.add(grace);
  };

  return {
    performers: {
      "budget-wait": (run, request) => {
        const asked = run.pending["budget-wait"].ask(request, (pending) => {
          const wait = open(run, pending, false);
          return () => onHangUp(run, wait, hungUpMs);
        });
        if (run.budgetWaits.has(requestId(request))) run.freezeIfIdle();
        return asked;
      },
    },
    cancel: (run, id) => {
      const wait = run.budgetWaits.get(id);
      if (wait !== undefined) cancel(run, wait);
    },
    resume: (run) => {
      for (const { instanceId, key } of store.waits.allForMoney()) {
        if (instanceId !== run.instanceId || run.budgetWaits.has(key)) continue;
        run.pending["budget-wait"].expect(key, (pending) => {
          const wait = open(run, pending, true);
          onHangUp(run, wait, adoptedMs);
          return () => onHangUp(run, wait, hungUpMs);
        });
      }
    },
    end: (run) => {
      for (const { over } of run.budgetWaits.values()) over.unsubscribe();
      run.budgetWaits.clear();
    },
    stop: () => all.unsubscribe(),
  };
}
