import { finalize, ignoreElements, Subject, Subscription, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";
import type { Condition, Occurrence } from "../../../streams/coordination/condition.ts";
import { waits } from "../../../streams/coordination/waits.ts";
import type { Wait, WaitCommand, WaitEvent } from "../../../streams/coordination/waits.ts";
import type { Resting } from "../../../streams/runs/resting.ts";
import type { AgentConfig, Trigger, WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { maxWaitsOfRun } from "../../contracts/run-channel.ts";
import type { AbilityAnswer, RunRequestOf } from "../../contracts/run-channel.ts";
import type { Offer } from "../../contracts/webhook-receipts.ts";
import type { Store } from "../../store/store.ts";
import type { OpenRequests } from "./open-requests.ts";
import { requestId } from "./open-requests.ts";
import type { Rest, Rests } from "./rests.ts";
import { answerFrom, callAs, deliveryAs } from "./told.ts";

export interface WaitDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "waits">;
  readonly requests: OpenRequests;
  readonly resting: Resting;
  readonly rests: Rests;
  /** The JSON of a stored delivery; null when it is gone, or none. */
  readonly payloadOf: (receiptId: string) => unknown;
  /** Work that waited in its queue is taken. */
  readonly onTaken: (item: WorkItem) => void;
  /** The run has nothing to do until it is answered. */
  readonly onIdle: (instanceId: string) => void;
  /** The config that a live run was started with; throws when it does not live. */
  readonly configOf: (instanceId: string) => AgentConfig;
  readonly onProblem: (message: string) => void;
}

type CallTrigger = Extract<Trigger, { kind: "agent-call" }>;

export interface WaitAbilities {
  wait(request: RunRequestOf<"wait">): Promise<AbilityAnswer<"wait">>;
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
  const { clock, store, requests, resting, rests } = deps;
  const command$ = new Subject<WaitCommand>();
  const open = new Map<string, { readonly wait: Wait; readonly rest: Rest }>();
  const listening = new Set<string>();
  const answers = new Map<string, AbilityAnswer<"wait">>();
  const graces = new Subscription();
  let offers = 0;
  let offered: readonly Wait[] = [];

  const begin = (wait: Wait): void => {
    const text = waitText(wait.condition);
    open.set(wait.key, { wait, rest: rests.begin(wait.instanceId, { clockStands: true, text }) });
  };
  const listen = (wait: Wait): void => {
    if (!open.has(wait.key)) return;
    listening.add(wait.key);
    command$.next({ type: "wait", wait });
  };
  const forget = (key: string): void => {
    open.delete(key);
    listening.delete(key);
  };
  const finish = (key: string, ready: () => void): void => {
    const entry = open.get(key);
    forget(key);
    entry?.rest.finish(ready);
  };
  const waitedMs = (instanceId: string): number => resting.waitedMs(instanceId);

  const start = (id: string, { instanceId, request }: RunRequestOf<"wait">): void => {
    const { timeoutSeconds, ...condition } = request;
    const agent = deps.configOf(instanceId);
    const longest = agent.waitTimeoutSeconds;
    const left = maxWaitsOfRun * longest * 1000 - waitedMs(instanceId);
    const wanted = Math.min(timeoutSeconds ?? longest, longest) * 1000;
    const since = clock.now();
    const until = since + Math.max(0, Math.min(wanted, left));
    const wait: Wait = { key: id, instanceId, agent: agent.name, condition, since, until };
    begin(wait);
    const added = store.waits.add(wait);
    // What came before it was waited for waits in the agent's own queue, behind this very run.
    const looked = store.waits.takeQueued({ ...wait, waitedMs: waitedMs(instanceId) }, (item) =>
      answerFrom(item, condition, deps.payloadOf),
    );
    Promise.all([looked, added]).then(
      ([taken]) => {
        if (taken === null) {
          listen(wait);
          if (listening.has(id)) deps.onIdle(instanceId);
          return;
        }
        deps.onTaken(taken.item);
        finish(id, () => requests.answer(id, taken.answer));
      },
      (error: unknown) => finish(id, () => requests.refuse(id, error)),
    );
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
    const entry = open.get(id);
    if (entry === undefined) return;
    command$.next({ type: "cancel", key: id });
    const { instanceId } = entry.wait;
    store.waits
      .cancel({ instanceId, key: id, waitedMs: waitedMs(instanceId) })
      .catch((error: unknown) => deps.onProblem(`the end of a wait: ${String(error)}`));
    finish(id, () => requests.refuse(id, new Error("nobody waits for it any more")));
  };

  const timedOut = ({ key, instanceId }: Wait): void => {
    const answer: AbilityAnswer<"wait"> = { ok: true, timedOut: true, trigger: null };
    store.waits.end({ key, instanceId, answer, waitedMs: waitedMs(instanceId) }).then(
      () => finish(key, () => requests.answer(key, answer)),
      (error: unknown) => finish(key, () => requests.refuse(key, error)),
    );
  };
  const see = (event: WaitEvent): void => {
    if (event.type === "offered") offered = event.to;
    if (event.type === "timed-out") timedOut(event.wait);
    if (event.type !== "met") return;
    const answer = answers.get(event.id);
    finish(event.wait.key, () => requests.answer(event.wait.key, answer));
  };
  const offer = (occurrence: Occurrence, trigger: Record<string, unknown>): Offer => {
    const id = String(++offers);
    command$.next({ type: "offer", id, occurrence });
    const answer: AbilityAnswer<"wait"> = { ok: true, timedOut: false, trigger };
    const takers = offered.map(({ agent, instanceId, key }) => ({
      ...{ agent, instanceId, key, answer },
      waitedMs: waitedMs(instanceId),
      isWaiting: () => open.has(key),
    }));
    if (takers.length === 0) return { takers, settle: () => undefined };
    answers.set(id, answer);
    return {
      takers,
      settle: (taken) => {
        command$.next({ type: taken ? "taken" : "not-taken", id });
        answers.delete(id);
      },
    };
  };

  return {
    wait: async (request) => {
      const before = store.waits.answer(request.instanceId, requestId(request));
      if (before !== undefined) return before as AbilityAnswer<"wait">;
      const left = (id: string): void => hungUp(id, hungUpMs);
      const asked = requests.ask(request, (id) => start(id, request), left);
      // An adopted run that asked again has nothing to do either.
      if (listening.has(requestId(request))) deps.onIdle(request.instanceId);
      return (await asked) as AbilityAnswer<"wait">;
    },
    offerDelivery: (event, payload) => {
      const { occurrence, trigger } = deliveryAs(event, payload);
      return offer(occurrence, trigger);
    },
    offerCall: (agent, call) => {
      const { occurrence, trigger } = callAs(agent, call);
      return offer(occurrence, trigger);
    },
    cancel,
    goOn: (instanceId) => {
      for (const wait of store.waits.all()) {
        if (wait.instanceId !== instanceId || open.has(wait.key)) continue;
        requests.expect(instanceId, wait.key, (id) => hungUp(id, hungUpMs));
        begin(wait);
        listen(wait);
        hungUp(wait.key, adoptedMs);
      }
    },
    end: (instanceId) => {
      command$.next({ type: "ended", instanceId });
      for (const [key, { wait }] of open) if (wait.instanceId === instanceId) forget(key);
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

function waitText({ kind, source, event }: Condition): string {
  if (kind === "agent-call")
    return `waits for a call${source === undefined ? "" : ` from ${source}`}`;
  const from = source === undefined ? "" : ` from ${source}`;
  return `waits for ${event === undefined ? "a webhook" : `the webhook ${event}`}${from}`;
}
