import type { Wait } from "../../foundation/contracts/run-state.ts";
import { Subscription } from "rxjs";
import { z } from "zod";
import type { Clock } from "../../../streams/clock.ts";
import type { Condition } from "../../foundation/contracts/condition.ts";
import { drive } from "../../../streams/machine.ts";
import { createWaits } from "./rules/waits.ts";
import type { WaitEvent } from "./rules/waits.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import type { RequestAnswer, RunApiRequest } from "../../foundation/contracts/run-api.ts";
import { waitRequests } from "../../foundation/contracts/run-requests/waits.ts";
import type { Store } from "../../foundation/store/store.ts";
import type { LiveRun, OpenWait } from "./live-run.ts";
import { lookBack } from "./look-back.ts";
import type { LookBackDeps, PastMatch } from "./look-back.ts";
import { adoptedMs, hungUpMs, requestId } from "./pending-requests.ts";
import type { PendingRequest } from "./pending-requests.ts";
import { limitOf, waitAnswer, waitText, waitTimes } from "./wait-answer.ts";
import { createWaitMatches } from "./wait-matches.ts";
import type { WaitMatches } from "./wait-matches.ts";

export interface WaitDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "waits" | "past">;
  readonly deliveryOf: LookBackDeps["deliveryOf"];
  /** Work that waited in its queue is taken. */
  readonly onTaken: (item: WorkItem) => void;
  /** Throws a RunApiError when the project has no such source. */
  readonly mustHaveSource: (request: Pick<Condition, "kind" | "source">) => void;
  readonly onProblem: (message: string) => void;
}

export interface WaitRequests extends Pick<WaitMatches, "ofDelivery" | "ofCall"> {
  readonly wait: (run: LiveRun, request: RunApiRequest<"wait">) => Promise<RequestAnswer<"wait">>;
  /** The run gave its wait up: nothing may be delivered to it. */
  cancel(run: LiveRun, id: string): void;
  /** An adopted run waits as before, and is to ask again. */
  resume(run: LiveRun): void;
  /** The run is over. */
  end(run: LiveRun): void;
  readonly stop: () => void;
}

type Answer = RequestAnswer<"wait">;

/** Waits over their store: what meets a wait is committed as its answer, and survives a restart. */
export function createWaitRequests(deps: WaitDeps): WaitRequests {
  const { clock, store } = deps;
  const graces = new Subscription();
  const machine = createWaits<OpenWait>();

  const onEvent = (event: WaitEvent<OpenWait>): void => {
    if (event.type === "timed-out") void timedOut(event.wait);
    if (event.type === "met") close(event.wait).answer(matches.answer(event.match, event.wait));
  };
  const driver = drive(machine, clock, onEvent);
  const { apply } = driver;
  const matches = createWaitMatches({ match: machine.match, apply });

  const isOpen = (wait: OpenWait): boolean => wait.run.waits.get(wait.key) === wait;
  /** It is over; its request is to be answered or refused. */
  const close = (wait: OpenWait): PendingRequest<Answer> => {
    wait.run.waits.delete(wait.key);
    return wait.pending;
  };
  const refuse = (wait: OpenWait, error: unknown): void => {
    if (isOpen(wait)) close(wait).refuse(error);
  };
  const endOf = (wait: OpenWait, answer: Answer) => {
    const { key, instanceId, run } = wait;
    return { key, instanceId, answer, waitedMs: run.clock.waitedMs() };
  };

  /** What comes from now on may meet it; what was on its way before is in store once `stored` resolves. */
  const open = (
    wait: Wait,
    run: LiveRun,
    pending: PendingRequest<Answer>,
    stored: Promise<void>,
  ): OpenWait => {
    const opened: OpenWait = { ...wait, run, pending, isIdle: false, lookedBack: stored };
    run.waits.set(wait.key, opened);
    opened.lookedBack = stored
      .then(() => findEarlier(opened))
      .catch((error: unknown) => refuse(opened, error));
    pending.suspend({ pausesClock: true, text: waitText(wait.condition) });
    apply({ type: "wait", wait: opened });
    return opened;
  };
  const findEarlier = async (wait: OpenWait): Promise<void> => {
    const { past } = store;
    for await (const found of lookBack(wait, { past, deliveryOf: deps.deliveryOf })) {
      if (!isOpen(wait) || (await takeEarlier(wait, found))) return;
    }
    if (!isOpen(wait)) return;
    wait.isIdle = true;
    wait.run.freezeIfIdle();
  };
  /** False when a run of the agent has it by now, and the wait continues. */
  const takeEarlier = async (wait: OpenWait, { item, trigger }: PastMatch): Promise<boolean> => {
    // Nothing else may meet it meanwhile.
    apply({ type: "cancel", key: wait.key });
    const end = endOf(wait, waitAnswer(wait, trigger));
    const taken = await store.past.take(item, end);
    if (taken === null) {
      if (isOpen(wait)) apply({ type: "wait", wait });
      return false;
    }
    if (taken.answer === end.answer) deps.onTaken(item);
    close(wait).answer(storedAnswer(taken.answer));
    return true;
  };
  /** The run may only have lost its connection. */
  const onHangUp = (wait: OpenWait, graceMs: number): void => {
    const grace = clock.at(clock.now() + graceMs).subscribe(() => {
      if (!wait.pending.hasCaller()) cancel(wait);
    });
    graces.add(grace);
    grace.add(() => graces.remove(grace));
  };
  const cancel = (wait: OpenWait): void => {
    if (!isOpen(wait)) return;
    const { key, instanceId, run } = wait;
    apply({ type: "cancel", key });
    store.waits
      .cancel({ instanceId, key, waitedMs: run.clock.waitedMs() })
      .catch((error: unknown) => deps.onProblem(`the end of a wait: ${String(error)}`));
    refuse(wait, new Error("the run no longer waits for it"));
  };
  const timedOut = async (wait: OpenWait): Promise<void> => {
    // A short wait is to find what came before it, too.
    await wait.lookedBack;
    if (!isOpen(wait)) return;
    try {
      const answer = await store.waits.end(endOf(wait, waitAnswer(wait, null)));
      if (isOpen(wait)) close(wait).answer(storedAnswer(answer));
    } catch (error) {
      refuse(wait, error);
    }
  };

  return {
    wait: async (run, request) => {
      const id = requestId(request);
      const before = store.waits.answer(run.instanceId, id);
      if (before !== undefined) return storedAnswer(before);
      if (!run.waits.has(id)) deps.mustHaveSource(request.request);
      const asked = run.pending.wait.ask(request, (pending) => {
        const wait = newWait(run, request, clock.now());
        const limited = limitOf(wait);
        if (limited) run.warn(`wait_for_trigger ${limited.why}`);
        const opened = open(wait, run, pending, store.waits.add(wait));
        return () => onHangUp(opened, hungUpMs);
      });
      // An adopted run that asked again has nothing to do either.
      if (run.waits.get(id)?.isIdle === true) run.freezeIfIdle();
      return asked;
    },
    ofDelivery: matches.ofDelivery,
    ofCall: matches.ofCall,
    cancel: (run, id) => {
      const wait = run.waits.get(id);
      if (wait !== undefined) cancel(wait);
    },
    resume: (run) => {
      for (const wait of store.waits.all()) {
        if (wait.instanceId !== run.instanceId || run.waits.has(wait.key)) continue;
        run.pending.wait.expect(wait.key, (pending) => {
          const opened = open(wait, run, pending, Promise.resolve());
          onHangUp(opened, adoptedMs);
          return () => onHangUp(opened, hungUpMs);
        });
      }
    },
    end: (run) => {
      const { instanceId } = run;
      apply({ type: "ended", instanceId });
      run.waits.clear();
      store.waits
        .forget(instanceId)
        .catch((error: unknown) => deps.onProblem(`what ${instanceId} asked: ${String(error)}`));
    },
    stop: () => {
      driver.stop();
      graces.unsubscribe();
    },
  };
}

const answerSchema = waitRequests.wait.answer(z);

/** As stored, possibly by an earlier scheduler. */
function storedAnswer(answer: unknown): Answer {
  return answerSchema.parse(answer);
}

function newWait(run: LiveRun, request: RunApiRequest<"wait">, since: number): Wait {
  const { timeoutSeconds, ...condition } = request.request;
  const { instanceId, agent } = run;
  const config = run.request.agent;
  const { ms, ...asked } = waitTimes(timeoutSeconds, config, run.clock.waitedMs());
  return {
    key: requestId(request),
    instanceId,
    agent,
    condition,
    since,
    until: since + ms,
    ...asked,
  };
}
