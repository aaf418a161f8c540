import { Observable, observeOn, queueScheduler, Subject, takeUntil } from "rxjs";
import type { Debounce } from "../../../streams/agent-config.ts";
import { attributesOf } from "../../../streams/triggers/attributes.ts";
import { createGatherings as createMachine } from "../../../streams/triggers/gather.ts";
import type { GatherCommand, GatherEvent } from "../../../streams/triggers/gather.ts";
import { keyOf } from "../../../streams/triggers/key-template.ts";
import type { RunEvent, Trigger, WorkItem } from "../../../streams/vocabulary.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { drive } from "../../foundation/drive.ts";
import { messageOf } from "../../foundation/errors.ts";
import { gatheringLimits, type GatheringOptions } from "../../foundation/store/gatherings.ts";
import type { GatheringDelivery } from "../../foundation/store/receipts.ts";

type Context = Pick<
  SchedulerContext,
  "store" | "status" | "clock" | "inputs" | "dispatch" | "warn"
>;

export type Gatherings = ReturnType<typeof createGatherings>;

const tooMany = `later deliveries took its place: a run gets at most ${gatheringLimits.deliveries}, and 1 MiB of payloads`;

/** Deliveries that gather for runs. They are rows of the store from which the timers are derived, so a crash loses none. */
export function createGatherings(context: Context) {
  const { store, status, clock, inputs, dispatch, warn } = context;
  const command$ = new Subject<GatherCommand>();
  const dropped$ = new Subject<RunEvent>();
  const withoutKey = new Set<string>();
  const debounceOf = (agent: string): Debounce | null => {
    const { removed = true, config = null } = status.agent(agent) ?? {};
    return removed ? null : (config?.debounce ?? null);
  };

  /** Reads the store, since events of several commits may arrive in another order. */
  const read = (agent: string, key: string): void =>
    command$.next({ type: "stored", gathering: store.gatherings.of(agent, key) });
  const start = async (agent: string, key: string): Promise<WorkItem | null> => {
    const item = await store.gatherings.start(agent, key);
    read(agent, key);
    if (item !== null) dispatch([item]);
    return item;
  };
  const onDue = ({ agent, key }: Extract<GatherEvent, { type: "due" }>): void =>
    void start(agent, key).catch((error: unknown) =>
      warn(`agent ${agent}: gathered deliveries are stored, not started: ${messageOf(error)}`),
    );
  const warnOnce = (agent: string, { key }: Debounce): void => {
    const message = `agent ${agent}: a delivery lacks an attribute of debounce.key ${String(key)} and starts its own run`;
    if (!withoutKey.has(message)) warn(message);
    withoutKey.add(message);
  };

  return {
    /** How a delivery gathers for a run of the agent; null if it starts its own. */
    gatheringOf: (agent: string, trigger: Trigger): GatheringOptions | null => {
      const debounce = debounceOf(agent);
      if (debounce === null) return null;
      const options = gatheringOptions(debounce, trigger);
      if (options === null) warnOnce(agent, debounce);
      return options;
    },
    /** Committed deliveries gather. */
    gathers: (deliveries: readonly GatheringDelivery[]): void => {
      for (const { agent, key, dropped } of deliveries) {
        read(agent, key);
        const event = { type: "refused", agent, at: clock.now(), outcome: "dropped" } as const;
        for (const item of dropped) dropped$.next({ ...event, item, reason: tooMany });
      }
    },
    /** A live run took a delivery that may have gathered. */
    taken: ({ agent, trigger }: WorkItem): void => {
      const debounce = debounceOf(agent);
      const options = debounce && gatheringOptions(debounce, trigger);
      if (options !== null) read(agent, options.key);
    },
    /** Starts the runs of all gathering deliveries of the agent; resolves to their work. */
    startNow: async (agent: string): Promise<readonly WorkItem[]> => {
      const open = store.gatherings.ofAgent(agent);
      const items = await Promise.all(open.map(({ key }) => start(agent, key)));
      return items.filter((item) => item !== null);
    },
    onEvent: ({ type, agent }: RunEvent): void => {
      if (type === "agent-set" || type === "agent-removed") command$.next({ type: "agent", agent });
    },
    /** Reports gathering deliveries for the status of agents. While it is subscribed, runs start when they are due, until a stop. */
    event$: new Observable<RunEvent>((subscriber) => {
      const driver = drive(createMachine(debounceOf), clock, (event) => {
        if (event.type === "due") onDue(event);
        else subscriber.next({ ...event, at: clock.now() });
      });
      subscriber.add(driver.stop);
      subscriber.add(dropped$.subscribe(subscriber));
      subscriber.add(command$.subscribe(driver.apply));
      subscriber.add(clock.earlier$.subscribe(() => driver.apply({ type: "set-back" })));
      for (const gathering of store.gatherings.all()) driver.apply({ type: "stored", gathering });
    }).pipe(observeOn(queueScheduler), takeUntil(inputs.stopping$)),
  };
}

/** How a delivery gathers; null if it has no value for an attribute of the key. */
export function gatheringOptions(
  { key: template, deliver }: Debounce,
  trigger: Trigger,
): GatheringOptions | null {
  const key = template === null ? "" : keyOf(template, attributesOf(trigger));
  return key === null ? null : { key, maxBytes: deliver === "all" ? gatheringLimits.bytes : null };
}
