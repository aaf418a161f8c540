import { finalize, ignoreElements, Subject, Subscription, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";
import type { Condition } from "../../../streams/coordination/condition.ts";
import { waits } from "../../../streams/coordination/waits.ts";
import type { Wait, WaitCommand, WaitEvent } from "../../../streams/coordination/waits.ts";
import type { Resting } from "../../../streams/runs/resting.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { RequestAnswer, RunApiRequest } from "../../contracts/run-api.ts";
import type { Offer } from "../../contracts/webhook-receipts.ts";
import type { Store } from "../../store/store.ts";
import type { OpenRequests } from "./open-requests.ts";
import { requestId } from "./open-requests.ts";
import { createOpenWaits } from "./open-waits.ts";
import type { Rests } from "./rests.ts";
import { lookBack } from "./look-back.ts";
import type { LookBackDeps, PastMatch } from "./look-back.ts";
import { limitOf, waitAnswer, waitTimes } from "./wait-answer.ts";
import { createWaitOffers } from "./wait-offers.ts";
import type { CallTrigger } from "./wait-offers.ts";

export interface WaitDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "waits" | "past">;
  readonly requests: OpenRequests;
  readonly resting: Resting;
  readonly rests: Rests;
  readonly deliveryOf: LookBackDeps["deliveryOf"];
  /** Work that waited in its queue is taken. */
  readonly onTaken: (item: WorkItem) => void;
  /** The run has nothing to do until it is answered. */
  readonly onIdle: (instanceId: string) => void;
  /** The config that a live run was started with; throws when it does not live. */
  readonly configOf: (instanceId: string) => AgentConfig;
  /** Throws a RunApiError when the project has no such source. */
  readonly mustHaveSource: (request: Pick<Condition, "kind" | "source">) => void;
  /** Writes a warning into the log of the run's agent. */
  readonly warnRun: (instanceId: string, message: string) => void;
  readonly onProblem: (message: string) => void;
}

export interface WaitAbilities {
  wait(request: RunApiRequest<"wait">): Promise<RequestAnswer<"wait">>;
  /** Offers a delivery to the runs that wait for one; `payload` is its JSON. */
  offerDelivery(event: WebhookEvent, payload: unknown): Offer;
  /** Offers a call to the runs of the called agent that wait for one. */
  offerCall(agent: string, call: CallTrigger): Offer;
  /** The agent gave its wait up: nothing may be taken for it. */
  cancel(id: string): void;
  /** An adopted run goes on: it waits as before, and is to ask again. */
  goOn(instanceId: string): void;
  /** The run is over. */
  end(instanceId: string): void;
  /** Does the work while it is subscribed. */
  readonly work$: Observable<never>;
}

/** How long a wait is kept for a run that hung up, in ms: its connection may have broken, and it asks again. */
const hungUpMs = 15_000;
/** The same for a run of an earlier scheduler, in ms. */
const adoptedMs = 60_000;

/** Waits over their store: what meets a wait is committed as its answer, and survives a restart. */
export function createWaitAbilities(deps: WaitDeps): WaitAbilities {
  const { clock, store, requests, resting } = deps;
  const command$ = new Subject<WaitCommand>();
  const open = createOpenWaits(deps.rests);
  const graces = new Subscription();
  const waitedMs = (instanceId: string): number => resting.waitedMs(instanceId);
  const offers = createWaitOffers({
    command: (command) => command$.next(command),
    isOpen: (key) => open.has(key),
    waitedMs,
  });

  const answer = (id: string, told: unknown): void =>
    open.finish(id, () => requests.answer(id, told));
  const refuse = (id: string, error: unknown): void =>
    open.finish(id, () => requests.refuse(id, error));

  const start = (id: string, { instanceId, request }: RunApiRequest<"wait">): void => {
    const { timeoutSeconds, ...condition } = request;
    const agent = deps.configOf(instanceId);
    const since = clock.now();
    const { ms, ...asked } = waitTimes(timeoutSeconds, agent, waitedMs(instanceId));
    const until = since + ms;
    const wait: Wait = {
      key: id,
      instanceId,
      agent: agent.name,
      condition,
      since,
      until,
      ...asked,
    };
    const limited = limitOf(wait);
    if (limited) deps.warnRun(instanceId, `wait_for_trigger ${limited.why}`);
    begin(wait, store.waits.add(wait));
  };
  /** What comes from now on is offered to it; what was on its way before is in store once `stored` resolves. */
  const begin = (wait: Wait, stored: Promise<void>): void => {
    const looked = stored
      .then(() => findEarlier(wait))
      .catch((error: unknown) => refuse(wait.key, error));
    open.begin(wait, looked);
    command$.next({ type: "wait", wait });
  };
  const findEarlier = async (wait: Wait): Promise<void> => {
    const { key, instanceId } = wait;
    for await (const found of lookBack(wait, { past: store.past, deliveryOf: deps.deliveryOf })) {
      if (!open.has(key) || (await takeEarlier(wait, found))) return;
    }
    if (open.markIdle(key)) deps.onIdle(instanceId);
  };
  /** False when a run of the agent has it by now, and the wait goes on. */
  const takeEarlier = async (wait: Wait, { item, trigger }: PastMatch): Promise<boolean> => {
    const { key, instanceId } = wait;
    // Nothing else may be offered to it meanwhile.
    command$.next({ type: "cancel", key });
    const end = {
      key,
      instanceId,
      answer: waitAnswer(wait, trigger),
      waitedMs: waitedMs(instanceId),
    };
    const taken = await store.past.take(item, end);
    if (taken === null) {
      if (open.has(key)) command$.next({ type: "wait", wait });
      return false;
    }
    if (taken.answer === end.answer) deps.onTaken(item);
    answer(key, taken.answer);
    return true;
  };
  /** The run may only have lost its connection. */
  const hungUp = (id: string, forMs: number): void => {
    const grace = clock.at(clock.now() + forMs).subscribe(() => {
      if (!requests.isHeard(id)) cancel(id);
    });
    graces.add(grace);
    grace.add(() => graces.remove(grace));
  };
  const cancel = (id: string): void => {
    const wait = open.get(id);
    if (wait === undefined) return;
    command$.next({ type: "cancel", key: id });
    const { instanceId } = wait;
    store.waits
      .cancel({ instanceId, key: id, waitedMs: waitedMs(instanceId) })
      .catch((error: unknown) => deps.onProblem(`the end of a wait: ${String(error)}`));
    refuse(id, new Error("nobody waits for it any more"));
  };

  const timedOut = async (wait: Wait): Promise<void> => {
    const { key, instanceId } = wait;
    // A short wait is to find what came before it, too.
    await open.lookedBack(key);
    if (!open.has(key)) return;
    const end = { key, instanceId, answer: waitAnswer(wait, null), waitedMs: waitedMs(instanceId) };
    await store.waits.end(end).then(
      (told) => answer(key, told),
      (error: unknown) => refuse(key, error),
    );
  };
  const see = (event: WaitEvent): void => {
    if (event.type === "offered") offers.goesTo(event.to);
    if (event.type === "timed-out") void timedOut(event.wait);
    if (event.type === "met") answer(event.wait.key, offers.answer(event.id, event.wait));
  };

  return {
    wait: async (request) => {
      const before = store.waits.answer(request.instanceId, requestId(request));
      if (before !== undefined) return before as RequestAnswer<"wait">;
      if (!open.has(requestId(request))) deps.mustHaveSource(request.request);
      const left = (id: string): void => hungUp(id, hungUpMs);
      const asked = requests.ask(request, (id) => start(id, request), left);
      // An adopted run that asked again has nothing to do either.
      if (open.isIdle(requestId(request))) deps.onIdle(request.instanceId);
      return (await asked) as RequestAnswer<"wait">;
    },
    offerDelivery: (event, payload) => offers.ofDelivery(event, payload),
    offerCall: (agent, call) => offers.ofCall(agent, call),
    cancel,
    goOn: (instanceId) => {
      for (const wait of store.waits.all()) {
        if (wait.instanceId !== instanceId || open.has(wait.key)) continue;
        requests.expect(instanceId, wait.key, (id) => hungUp(id, hungUpMs));
        begin(wait, Promise.resolve());
        hungUp(wait.key, adoptedMs);
      }
    },
    end: (instanceId) => {
      command$.next({ type: "ended", instanceId });
      open.end(instanceId);
      store.waits
        .forget(instanceId)
        .catch((error: unknown) => deps.onProblem(`what ${instanceId} asked: ${String(error)}`));
    },
    work$: command$.pipe(
      waits(clock),
      tap(see),
      ignoreElements(),
      finalize(() => graces.unsubscribe()),
    ),
  };
}
