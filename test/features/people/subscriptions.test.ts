import { getEventListeners } from "node:events";
import { asyncScheduler, type Subject } from "rxjs";
import { createInbox } from "../../../src/features/people/inbox.ts";
import { createInboxStore } from "../../../src/features/people/inbox-store.ts";
import { createQuestionStore } from "../../../src/features/people/question-store.ts";
import { createQuestions } from "../../../src/features/people/questions.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import type { Person } from "../../../src/foundation/contracts/questions.ts";
import { createClock } from "../../../streams/clock.ts";
import { tempStore } from "../../foundation/store/support.ts";

const by: Person = { via: "login", name: "", from: null };
const clock = createClock(asyncScheduler);
const redactor = createRedactor();

test("a run's request for messages that is answered at once leaves no subscription", async () => {
  const inbox = createInbox({ store: tempStore().tables(createInboxStore), clock, ...redactor });
  await inbox.add({ instanceId: "a", kind: "steer", text: "One.", by });
  for (const [run, signal] of [
    ["a", new AbortController().signal],
    ["b", AbortSignal.abort()],
  ] as const) {
    await inbox.next(run, 0, signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  }
});

test("a wait for a question that has ended leaves no subscription", async () => {
  const questions = createQuestions({
    store: tempStore().tables(createQuestionStore),
    clock,
    redactor,
    onCount: () => undefined,
    warn: () => undefined,
  });
  onTestFinished(questions.stop);
  const { id } = await questions.open({
    kind: "ask",
    agent: "a",
    gates: [],
    instanceId: "a-1",
    subject: "Go?",
    prompt: "Go?",
    form: { kind: "boolean" as const },
    fallback: null,
    seconds: 60,
  });
  await questions.answer(id, "yes", by);
  expect(await questions.settled(id)).toMatchObject({ answer: true });
  const { source } = questions.changed$ as unknown as { readonly source: Subject<unknown> };
  expect(source.observed).toBe(false);
});
