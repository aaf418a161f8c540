import { merge, Subject } from "rxjs";
import type { Observable } from "rxjs";
import type { Clock } from "../../streams/clock.ts";
import { createWaitGraph } from "../../streams/coordination/wait-graph.ts";
import type { Resting } from "../../streams/runs/resting.ts";
import type { LockClaimEvent } from "../../streams/status/reduce-status.ts";
import type { RunEvent, RunRequest, WebhookEvent, WorkItem } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../config/project-config.ts";
import type { RequestName, RequestAnswer, RunApi, RunApiRequest } from "../contracts/run-api.ts";
import { refusal } from "../contracts/run-api.ts";
import type { Offer, Receipt } from "../contracts/webhook-receipts.ts";
import type { Store } from "../store/store.ts";
import { interpretStored } from "../webhooks/interpret.ts";
import { createCallAbilities } from "./abilities/call-abilities.ts";
import type { CallDeps } from "./abilities/call-abilities.ts";
import { createFreezer } from "./abilities/freezer.ts";
import { createLockAbilities } from "./abilities/lock-abilities.ts";
import { createOpenRequests, requestId } from "./abilities/open-requests.ts";
import { createRests } from "./abilities/rests.ts";
import { mustHaveSource } from "./abilities/refusal.ts";
import { createWaitAbilities } from "./abilities/wait-abilities.ts";

export interface AbilityDeps extends Pick<
  CallDeps,
  "firstEvents" | "mustBeRunnable" | "dispatch" | "abandon"
> {
  readonly clock: Clock;
  readonly resting: Resting;
  readonly store: Pick<Store, "locks" | "waits" | "past" | "calls">;
  readonly project: () => Pick<
    ProjectConfig,
    "resourceLockTimeoutSeconds" | "maxCallDepth" | "webhooks"
  >;
  readonly agentNames: () => readonly string[];
  /** Stops a run that only waits, where its runtime can; the other starts it again. Either may reject. */
  readonly freeze: (request: RunRequest) => Promise<void>;
  readonly thaw: (request: RunRequest) => Promise<void>;
  /** A stored delivery; null when it is gone. */
  readonly receipt: (receiptId: string) => Receipt | null;
  /** Work that waited in its queue is taken by a run that waited for it. */
  readonly onTaken: (item: WorkItem) => void;
  readonly onProblem: (message: string) => void;
}

/** What live runs ask for, over what flows and what is stored. */
export interface LiveAbilities extends RunApi {
  /** Offers a delivery to the runs that wait for one. */
  offerDelivery(event: WebhookEvent, payload: unknown): Offer;
  /** What runs hold and wait for, for the status; subscribed before `event$`, which tells what is held already. */
  readonly claim$: Observable<LockClaimEvent>;
  /** After the event was given to the store: what it ends is told by what is committed. */
  see(event: RunEvent): void;
  /** Takes over what an earlier scheduler's runs asked for; once, while `event$` is subscribed. */
  restore(alive: ReadonlySet<string>): void;
  /** What runs do while they wait; drives everything, so it is subscribed before the first request. */
  readonly event$: Observable<RunEvent>;
}

type Performers = {
  readonly [A in RequestName]: (request: RunApiRequest<A>) => Promise<RequestAnswer<A>>;
};

/** The abilities of one scheduler's runs. */
export function createRunAbilities(deps: AbilityDeps): LiveAbilities {
  const { clock, resting, onProblem } = deps;
  const graph = createWaitGraph();
  const requests = createOpenRequests();
  const rests = createRests(resting, () => clock.now());
  const freezer = createFreezer(
    {
      freeze: async (instanceId) => deps.freeze(runOf(instanceId)),
      thaw: async (instanceId) => deps.thaw(runOf(instanceId)),
    },
    onProblem,
  );
  const warning$ = new Subject<RunEvent>();
  const busy = new Map<string, number>();
  const count = (instanceId: string, more: 1 | -1): void => {
    const n = (busy.get(instanceId) ?? 0) + more;
    if (n > 0) busy.set(instanceId, n);
    else busy.delete(instanceId);
  };
  const runOf = (instanceId: string): RunRequest => {
    const run = resting.of(instanceId);
    if (run === undefined) throw over();
    return run;
  };

  const isLive = (instanceId: string): boolean => resting.of(instanceId) !== undefined;
  const shared = { ...deps, graph, requests, rests, runOf, isLive };
  const locks = createLockAbilities({
    ...shared,
    agentOf: (instanceId) => runOf(instanceId).agent.name,
    defaultTtlMs: () => deps.project().resourceLockTimeoutSeconds * 1000,
  });
  const waits = createWaitAbilities({
    ...shared,
    configOf: (instanceId) => runOf(instanceId).agent,
    deliveryOf: (receiptId) => {
      const receipt = deps.receipt(receiptId);
      return receipt && interpretStored(receipt);
    },
    mustHaveSource: ({ kind, source }) =>
      mustHaveSource(kind, source, {
        sources: Object.keys(deps.project().webhooks),
        agents: deps.agentNames(),
      }),
    warnRun: (instanceId, msg) => {
      const agent = runOf(instanceId).agent.name;
      const at = clock.now();
      const entry = { level: 40, time: at, msg, agent, instanceId } as const;
      warning$.next({ type: "output", agent, at, instanceId, entry });
    },
    onIdle: (instanceId) => {
      // Whatever else it asks for goes on within it.
      if (busy.get(instanceId) === 1) freezer.freeze(instanceId);
    },
  });
  const calls = createCallAbilities({
    ...shared,
    maxDepth: () => deps.project().maxCallDepth,
    offerCall: (agent, call) => waits.offerCall(agent, call),
  });
  const performers: Performers = {
    lock: (request) => locks.lock(request),
    unlock: (request) => locks.unlock(request),
    "lock-heartbeat": (request) => locks.heartbeat(request),
    call: (request) => calls.call(request),
    "call-check": (request) => calls.check(request),
    "call-wait": (request) => calls.wait(request),
    wait: (request) => waits.wait(request),
    cancel: ({ instanceId, key }) => {
      const named = (ability: RequestName): string => requestId({ instanceId, ability, key });
      waits.cancel(named("wait"));
      for (const ability of ["call-wait", "lock"] as const) requests.leave(named(ability));
      return Promise.resolve({ ok: true });
    },
  };

  const end = (instanceId: string): void => {
    requests.refuseAll(instanceId, over());
    locks.end(instanceId);
    waits.end(instanceId);
    freezer.forget(instanceId);
  };
  return {
    perform: async <A extends RequestName>(
      request: RunApiRequest<A>,
    ): Promise<RequestAnswer<A>> => {
      const { instanceId, ability } = request;
      runOf(instanceId);
      count(instanceId, 1);
      try {
        const perform: Performers[A] = performers[ability];
        return await perform(request);
      } finally {
        // In this order: what is asked meanwhile must not freeze it before it has the answer.
        await freezer.thaw(instanceId);
        count(instanceId, -1);
      }
    },
    offerDelivery: (event, payload) => waits.offerDelivery(event, payload),
    claim$: locks.claim$,
    see: (event) => {
      rests.see(event);
      if (event.type === "started" && event.startedAt !== undefined) waits.goOn(event.instanceId);
      if (aboutWork.has(event.type)) calls.see(event);
      if (event.type === "finished") end(event.instanceId);
    },
    restore: (alive) => calls.restore(alive),
    event$: merge(rests.event$, warning$, locks.work$, waits.work$, calls.work$),
  };
}

/** What becomes of calls, as of all work. */
const aboutWork: ReadonlySet<RunEvent["type"]> = new Set([
  "started",
  "finished",
  "refused",
  "taken",
]);

function over() {
  return refusal("unauthorized", "This run is over.");
}
