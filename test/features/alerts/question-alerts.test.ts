import { Subject } from "rxjs";
import { questionDeliveries } from "../../../src/features/alerts/question-alerts.ts";
import type { AlertMessage, TargetAnswer } from "../../../src/features/alerts/rules/alert.ts";
import type { Question } from "../../../src/foundation/contracts/questions.ts";
import type { AlertOptions } from "../../../streams/alert-options.ts";
import { alertsWorld } from "./alerts-world.ts";
import { aTarget, defaultOptions } from "./rules/alerts.ts";
import { aQuestion } from "./samples.ts";
import { accepted, deliveryOf, failed } from "./sender-world.ts";

const startsAt = "2026-11-22T23:00:00Z";
const start = Date.parse(startsAt);
const hour = 3_600_000;
const asked = aQuestion({ at: start, until: start + 4 * hour });
const answered: Question = {
  ...asked,
  state: "answered",
  answer: "wait",
  answeredAt: start + 60_000,
  by: { via: "slack", name: "Ada", from: null },
};

type WorldOptions = Partial<AlertOptions> & Parameters<typeof alertsWorld>[0];

function world({ to = null, remindMs = null, ...options }: WorldOptions = {}) {
  const questions = new Map<string, Question>();
  const question$ = new Subject<Question>();
  const made = alertsWorld({
    startsAt,
    optionsOf: () => ({ ...defaultOptions, to, remindMs }),
    questions: {
      question$,
      find: (id) => questions.get(id) ?? null,
      linkPath: ({ id }, target) => `/answer/${id.at(-1)}${target}`,
    },
    ...options,
  });
  const put = (question: Question) => void questions.set(question.id, question);
  const sent = () => {
    made.elapse();
    return made.sent.map(({ to: target, message: { alert, url, receipt } }) =>
      [target, alert.phase, url, ...(receipt ? ["edits"] : [])].join(" "),
    );
  };
  return {
    ...made,
    put,
    sent,
    emit: (question: Question) => {
      put(question);
      question$.next(question);
    },
    /** Waits until so many messages were sent and recorded. */
    sentAre: async (...messages: readonly string[]) => {
      await expect.poll(sent).toEqual(messages);
      await expect.poll(() => made.alertStore.waitingTargets()).toEqual([]);
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
const firstSent = `ops opened ${opsLink}`;
const runPage = "https://al.example.test/al/dashboard/agents/dev/runs/dev-abcdefgh";

test("a question is sent once to each alert target of its agent, also in quiet hours, with another link for each", async () => {
  const quietHours = { from: 22 * 60, until: 7 * 60 };
  const targets = ["ops", "dev", "all"].map((name) => aTarget(name, { quietHours }));
  const { emit, sent } = asking({ targets: () => targets, to: ["ops", "dev"] });
  emit(asked);
  const devLink = "https://al.example.test/al/answer/9dev";
  await expect.poll(() => sent().toSorted()).toEqual([`dev opened ${devLink}`, firstSent]);
});

test("a question that was stored without its alerts before a crash is sent at the next start, once", async () => {
  const first = asking();
  await first.sentAre(firstSent);
  const late = { ...asked, id: asked.id.replace(/9$/, "7") };
  const second = asking({ store: first.store });
  second.emit(late);
  await second.sentAre("ops opened https://al.example.test/al/answer/7ops");
});

test("a question is sent again after half of its time, unless reminders are off or it has ended", async () => {
  const reminded = asking({ remindMs: hour });
  await expect.poll(reminded.sent).toHaveLength(1);
  reminded.elapse(2 * hour - 1000);
  expect(reminded.sent()).toHaveLength(1);
  reminded.elapse(1000);
  await reminded.sentAre(firstSent, `ops reminder ${opsLink}`);

  const ended = asking({ remindMs: hour });
  await expect.poll(ended.sent).toHaveLength(1);
  ended.emit(answered);
  await ended.sentAre(firstSent);
  ended.elapse(3 * hour);
  expect(ended.stored()).toHaveLength(1);

  const off = asking();
  await off.sentAre(firstSent);
});

test("the alert about a question that has ended is not sent and does not count as undelivered", async () => {
  const { emit, sent, stored, elapse } = asking({ send: () => Promise.resolve(failed()) });
  await expect.poll(sent).toHaveLength(1);
  emit(answered);
  await expect.poll(() => (elapse(), stored())).toEqual([]);
  expect(sent()).toHaveLength(1);
});

const withReceipt = ({ receipt }: AlertMessage): Promise<TargetAnswer> =>
  Promise.resolve(receipt ? accepted : { type: "accepted", receipt: "C1/17" });

test("the message about a question is edited once after the question has ended", async () => {
  const { emit, sentAre } = asking({ send: withReceipt });
  await sentAre(firstSent);
  emit(answered);
  emit(answered);
  await sentAre(firstSent, `ops resolved ${runPage} edits`);
});

test("a question's message that an earlier scheduler sent is edited at the next start", async () => {
  const first = asking({ send: withReceipt });
  await first.sentAre(firstSent);
  const second = world({ store: first.store });
  second.put(answered);
  second.live();
  await second.sentAre(`ops resolved ${runPage} edits`);
});

test("the message about a question that ends while the message is being sent is edited afterwards", async () => {
  const sending = Promise.withResolvers<TargetAnswer>();
  const { emit, sent, sentAre } = asking({
    send: (message) => (message.receipt ? withReceipt(message) : sending.promise),
  });
  await expect.poll(sent).toHaveLength(1);
  emit(answered);
  sending.resolve({ type: "accepted", receipt: "C1/17" });
  await sentAre(firstSent, `ops resolved ${runPage} edits`);
});

test("a question is sent before other alerts, and is not part of their digest", async () => {
  const { live, put, sent, alertStore, stored } = world();
  const others = ["1", "2", "3", "4", "5", "6"].map((id) => ({
    ...deliveryOf(`${id}@ops`),
    nextAt: start,
  }));
  const question = questionDeliveries(asked, [aTarget("ops")], defaultOptions);
  await alertStore.record({ states: [], deliveries: [...others, ...question] });
  put(asked);
  live();
  await expect.poll(sent).toHaveLength(2);
  expect(sent()[0]).toBe(firstSent);
  expect(stored()).toMatchObject([
    { alert: { topic: "digest", count: 6 } },
    { alert: { topic: "question", count: 1 } },
  ]);
});
