import { Subject } from "rxjs";
import type { AlertTarget } from "../../../streams/alert-options.ts";
import { createClock } from "../../../streams/clock.ts";
import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import { createAlerts } from "../../../src/features/alerts/alerts.ts";
import { questionDeliveries } from "../../../src/features/alerts/question-alerts.ts";
import type { AlertMessage, TargetAnswer } from "../../../src/features/alerts/rules/alert.ts";
import type { Question } from "../../../src/foundation/contracts/questions.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { VirtualCalendar } from "../../helpers/marbles.ts";
import { aTarget, defaultOptions } from "./rules/alerts.ts";
import { aQuestion } from "./samples.ts";
import { accepted, deliveryOf, failed } from "./sender-world.ts";

const start = Date.parse("2026-11-22T23:00:00Z");
const hour = 3_600_000;
const asked = aQuestion({ at: start, until: start + 4 * hour });
const answered: Question = {
  ...asked,
  state: "answered",
  answer: "wait",
  answeredAt: start + 60_000,
  by: { via: "slack", name: "Ada", from: null },
};

interface WorldOptions {
  readonly targets?: readonly AlertTarget[];
  readonly to?: readonly string[];
  readonly remindMs?: number | null;
  readonly send?: (message: AlertMessage) => Promise<TargetAnswer>;
  readonly store?: ReturnType<typeof tempStore>;
}

/** Alerts over a real store, in virtual time. */
function world(options: WorldOptions = {}) {
  const { store = tempStore(), send = () => Promise.resolve(accepted) } = options;
  const { targets = [aTarget("ops")], remindMs = null, to = null } = options;
  const alertStore = store.tables(createAlertStore);
  const sent: string[] = [];
  const questions = new Map<string, Question>();
  const question$ = new Subject<Question>();
  const calendar = new VirtualCalendar(new Date(start).toISOString());
  const alerts = createAlerts({
    store: alertStore,
    targets: () => targets,
    changed$: new Subject(),
    optionsOf: () => ({ ...defaultOptions, to, remindMs }),
    clock: createClock(calendar),
    send: (message, { name }) => {
      const { phase } = message.alert;
      sent.push(`${name} ${phase} ${message.url ?? ""}${message.receipt ? " edits" : ""}`);
      return send(message);
    },
    questions: {
      question$,
      find: (id) => questions.get(id) ?? null,
      linkPath: ({ id }, target) => `/answer/${id.at(-1)}${target}`,
    },
    projectName: "acme",
    origin: () => "https://al.example.test/al/",
    timezone: () => "UTC",
    earlier: { aliveAt: null, stoppedAt: null },
    onCounts: () => undefined,
    warn: () => undefined,
  });
  const live = () => {
    const subscription = alerts.effect$.subscribe();
    onTestFinished(async () => {
      subscription.unsubscribe();
      await alerts.close();
    });
  };
  const elapse = (ms = 10): void => calendar.runUntil(new Date(calendar.now() + ms).toISOString());
  return {
    store,
    alertStore,
    sent,
    live,
    elapse,
    put: (question: Question): void => void questions.set(question.id, question),
    emit: (question: Question): void => {
      questions.set(question.id, question);
      question$.next(question);
    },
    /** Waits until so many messages were sent and recorded. */
    sentAre: async (...messages: readonly string[]) => {
      await expect.poll(() => (elapse(), sent)).toEqual(messages);
      await expect.poll(() => alertStore.waitingTargets()).toEqual([]);
    },
  };
}

/** A world that is live and has emitted the question. */
function asking(options: WorldOptions = {}) {
  const made = world(options);
  made.live();
  made.emit(asked);
  return made;
}

const opsLink = "https://al.example.test/al/answer/9ops";
const runPage = "https://al.example.test/al/dashboard/agents/dev/runs/dev-abcdefgh";

test("a question is sent once to each of its agent's targets, in quiet hours too, each with its own link", async () => {
  const quietHours = { from: 22 * 60, until: 7 * 60 };
  const targets = ["ops", "dev", "all"].map((name) => aTarget(name, { quietHours }));
  const { emit, sent, elapse } = asking({ targets, to: ["ops", "dev"] });
  emit(asked);
  await expect.poll(() => (elapse(), sent.length)).toBe(2);
  const devLink = "https://al.example.test/al/answer/9dev";
  expect(sent.toSorted()).toEqual([`dev opened ${devLink}`, `ops opened ${opsLink}`]);
});

test("a question that was stored without its alerts before a crash is sent at the next start, once", async () => {
  const first = asking();
  await first.sentAre(`ops opened ${opsLink}`);
  const late = { ...asked, id: asked.id.replace(/9$/, "7") };
  const second = asking({ store: first.store });
  second.emit(late);
  await second.sentAre("ops opened https://al.example.test/al/answer/7ops");
});

test("a question is repeated after half of its time, unless reminders are off or it has ended", async () => {
  const reminded = asking({ remindMs: hour });
  await expect.poll(() => (reminded.elapse(), reminded.sent)).toHaveLength(1);
  reminded.elapse(2 * hour - 1000);
  expect(reminded.sent).toHaveLength(1);
  reminded.elapse(1000);
  await reminded.sentAre(`ops opened ${opsLink}`, `ops reminder ${opsLink}`);

  const ended = asking({ remindMs: hour });
  await expect.poll(() => (ended.elapse(), ended.sent)).toHaveLength(1);
  ended.emit(answered);
  await ended.sentAre(`ops opened ${opsLink}`);
  ended.elapse(3 * hour);
  expect(ended.alertStore.list({ limit: 9 })).toHaveLength(1);

  const off = asking();
  await off.sentAre(`ops opened ${opsLink}`);
});

test("a question that has ended is neither sent nor given up", async () => {
  const { emit, sent, alertStore, elapse } = asking({ send: () => Promise.resolve(failed()) });
  await expect.poll(() => (elapse(), sent)).toHaveLength(1);
  emit(answered);
  await expect.poll(() => (elapse(), alertStore.list({ limit: 9 }))).toEqual([]);
  expect(sent).toHaveLength(1);
});

const withReceipt = ({ receipt }: AlertMessage): Promise<TargetAnswer> =>
  Promise.resolve(receipt ? accepted : { type: "accepted", receipt: "C1/17" });

test("a message that can be edited is edited once the question has ended", async () => {
  const { emit, sentAre } = asking({ send: withReceipt });
  await sentAre(`ops opened ${opsLink}`);
  emit(answered);
  emit(answered);
  await sentAre(`ops opened ${opsLink}`, `ops resolved ${runPage} edits`);
});

test("a message of an earlier scheduler is edited at the next start", async () => {
  const first = asking({ send: withReceipt });
  await first.sentAre(`ops opened ${opsLink}`);
  const second = world({ store: first.store });
  second.put(answered);
  second.live();
  await second.sentAre(`ops resolved ${runPage} edits`);
});

test("a question that ends while its message is on the way has that message edited", async () => {
  const sending = Promise.withResolvers<TargetAnswer>();
  const { emit, sent, sentAre, elapse } = asking({
    send: (message) => (message.receipt ? withReceipt(message) : sending.promise),
  });
  await expect.poll(() => (elapse(), sent)).toHaveLength(1);
  emit(answered);
  sending.resolve({ type: "accepted", receipt: "C1/17" });
  await sentAre(`ops opened ${opsLink}`, `ops resolved ${runPage} edits`);
});

test("a question is sent before other alerts, and is not part of their digest", async () => {
  const { live, put, sent, alertStore, elapse } = world();
  const others = ["1", "2", "3", "4", "5", "6"].map((id) => ({
    ...deliveryOf(`${id}@ops`),
    nextAt: start,
  }));
  const question = questionDeliveries(asked, [aTarget("ops")], defaultOptions);
  await alertStore.record({ states: [], deliveries: [...others, ...question] });
  put(asked);
  live();
  await expect.poll(() => (elapse(), sent)).toHaveLength(2);
  expect(sent[0]).toBe(`ops opened ${opsLink}`);
  const left = alertStore.list({ limit: 9 }).map(({ alert }) => alert);
  expect(left.map(({ topic, count }) => [topic, count])).toEqual([
    ["digest", 6],
    ["question", 1],
  ]);
});
