import { createAlertStore, type AlertStore } from "../../../src/features/alerts/alert-store.ts";
import { createClock } from "../../../streams/clock.ts";
import type {
  Delivery,
  AlertMessage,
  TargetAnswer,
} from "../../../src/features/alerts/rules/alert.ts";
import type { AlertTarget } from "../../../streams/alert-options.ts";
import { createSender, type SenderDeps } from "../../../src/features/alerts/sender.ts";
import { VirtualCalendar } from "../../helpers/marbles.ts";
import { pause } from "../../helpers/pause.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { alerts, messageFor, targetOf } from "./samples.ts";

export const start = Date.parse("2026-11-22T12:00:00Z");

/** One attempt: of which delivery, when. */
export interface Attempt {
  readonly id: string;
  readonly target: string;
  /** Seconds since the start. */
  readonly at: number;
}

export interface WorldOptions extends Partial<Pick<SenderDeps, "targets" | "random" | "closeMs">> {
  /** The first answers; later alerts are accepted. */
  readonly answers?: TargetAnswer[];
  readonly send?: (message: AlertMessage, target: AlertTarget) => Promise<TargetAnswer>;
  readonly store?: AlertStore;
}

export const accepted: TargetAnswer = { type: "accepted" };
export const failed = (afterMs: number | null = null): TargetAnswer => ({
  type: "failed",
  error: "it answered 500",
  afterMs,
});

/** `1@ops` is a delivery with the ID 1 to ops. */
export function deliveryOf(name: string): Delivery {
  const [, target = ""] = name.split("@");
  return { id: name, at: start, target, alert: alerts.opened, nextAt: start };
}

/** A sender over a real store, in virtual time. */
export function senderWorld(options: WorldOptions = {}) {
  const {
    store = tempStore().tables(createAlertStore),
    answers = [],
    send = () => Promise.resolve(answers.shift() ?? accepted),
  } = options;
  const calendar = new VirtualCalendar(new Date(start).toISOString());
  const attempts: Attempt[] = [];
  const problems: string[] = [];
  let recorded = 0;
  const sender = createSender({
    store,
    targets: () => ["ops", "dev"].map((name) => ({ ...targetOf("webhook"), name })),
    message: ({ id, alert }) => ({ ...messageFor(alert), id }),
    isOver: () => false,
    clock: createClock(calendar),
    warn: (problem) => problems.push(problem),
    random: () => 0,
    ...options,
    send: (message, target) => {
      const at = (calendar.now() - start) / 1000;
      attempts.push({ id: message.id, target: target.name, at });
      return send(message, target);
    },
  });
  sender.attempted$.subscribe(() => recorded++);
  onTestFinished(() => sender.close());
  let [end, back] = [0, 0];
  const flush = () => calendar.runUntil(new Date(start + (end - back) * 1000).toISOString());
  /** Timers of the sender that are due fire first. */
  const attemptsRecorded = () => (flush(), recorded);
  /** Stores deliveries and wakes the sender. */
  const add = async (...names: readonly string[]): Promise<void> => {
    await store.record({ states: [], deliveries: names.map(deliveryOf) });
    sender.wake();
  };
  /** Waits, in real time, for the attempts to be as many as that, and recorded. */
  const attempted = (count: number): PromiseLike<void> =>
    expect.poll(attemptsRecorded, { interval: 2 }).toBe(count);
  return {
    store,
    sender,
    attempts,
    problems,
    /** IDs of the attempted deliveries. */
    ids: () => attempts.map(({ id }) => id),
    now: () => calendar.now(),
    add,
    recorded: attempted,
    /** Adds deliveries, and waits until each was attempted. */
    deliver: async (...names: readonly string[]): Promise<void> => {
      const count = recorded + names.length;
      await add(...names);
      await attempted(count);
    },
    /** Lets time pass until so many seconds after the start. */
    until: (seconds: number) => {
      end = seconds;
      flush();
    },
    /** Sets the clock back. */
    setBack: (seconds: number) => {
      back += seconds;
      calendar.jump(-seconds * 1000);
    },
    /** Deliveries to all targets together. */
    counts: () => {
      const stored = store.list({ limit: 1_000 });
      const sum = (state: string) => stored.filter((one) => one.state === state).length;
      return { waiting: sum("waiting"), dead: sum("dead") };
    },
    /** Waits long enough for anything that might happen now. */
    settled: async () => {
      for (let turn = 0; turn < 10; turn++) {
        await pause(5, "the sender may do more than it should");
        flush();
      }
    },
  };
}
