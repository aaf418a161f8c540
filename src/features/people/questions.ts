import { filter, firstValueFrom, Subject } from "rxjs";
import { v7 as uuidV7 } from "uuid";
import { isoTime } from "../../../streams/iso-times.ts";
import type { Clock } from "../../../streams/clock.ts";
import { answerText, checkAnswer, endText } from "../../foundation/contracts/questions.ts";
import type { Answer, Person, Question } from "../../foundation/contracts/questions.ts";
import type { Redacted, Redactor } from "../../foundation/credentials/redactor.ts";
import { messageOf, Problem } from "../../foundation/errors.ts";
import { auditEntry } from "./audit.ts";
import type { Act } from "../../foundation/contracts/audit-acts.ts";
import type { QuestionStore, Settlement } from "./question-store.ts";

/** A question before it is stored; `seconds` is how long people may take, `requestHash` of the request that a gate holds. */
export type NewQuestion = Pick<
  Question,
  "kind" | "agent" | "gates" | "instanceId" | "subject" | "prompt" | "form" | "fallback"
> & { readonly seconds: number; readonly requestHash?: string };

export interface QuestionsDeps {
  readonly store: QuestionStore;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly onCount: (open: number) => void;
  readonly warn: (message: string) => void;
}

/** Questions of runs to people. Each is durable, and its first answer counts. */
export function createQuestions({ store, clock, redactor, onCount, warn }: QuestionsDeps) {
  const changed$ = new Subject<Question>();
  /** How to cancel the timers of the open questions, by their ids. */
  const timers = new Map<string, () => void>();

  const settle = async (id: string, end: Settlement): Promise<boolean> => {
    const isFirst = await store.settle(id, end);
    const [question, cancel] = [store.find(id), timers.get(id)];
    // Without a timer, its end was emitted before.
    if (question === null || cancel === undefined) return isFirst;
    cancel();
    timers.delete(id);
    onCount(timers.size);
    changed$.next(question);
    return isFirst;
  };
  const expire = async (id: string): Promise<void> => {
    try {
      const answer = redactor.redactValue(store.find(id)?.fallback ?? null);
      await settle(id, { state: "expired", answer, by: null, at: clock.now() });
    } catch (error) {
      warn(`the end of question ${id}: ${messageOf(error)}`);
    }
  };
  const withdraw = (id: string): Promise<unknown> =>
    settle(id, { state: "withdrawn", answer: null, by: null, at: clock.now() });
  const watch = ({ id, until, state }: Question): void => {
    if (state !== "open" || timers.has(id)) return;
    timers.set(
      id,
      clock.wakeAt(until, () => void expire(id)),
    );
    onCount(timers.size);
  };
  for (const question of store.open()) watch(question);

  return {
    /**
     * Stores a question, or finds the run's open one about the same subject. One that ran out without an answer is final:
     * the run ends because of it.
     */
    open: async (asked: NewQuestion): Promise<Question> => {
      const last = store.latest(asked.instanceId, asked.kind, asked.subject);
      if (last?.state === "expired" && last.answer === null) return last;
      const opened = openQuestion(asked, clock.now(), redactor);
      const question = await store.add(opened, asked.requestHash);
      if (!timers.has(question.id) && question.state === "open") {
        watch(question);
        changed$.next(question);
      }
      return question;
    },
    /** Resolves to the question once it is answered, expired or withdrawn. */
    settled: (id: string): Promise<Question> => {
      const found = store.find(id);
      if (found !== null && found.state !== "open") return Promise.resolve(found);
      return firstValueFrom(changed$.pipe(filter((one) => one.id === id && one.state !== "open")));
    },
    /**
     * Answers an open question. Rejects with Problem `unknown_question`, `malformed` if the answer has not the form,
     * or `answered` with the first answer if it has ended.
     */
    answer: async (id: string, given: Answer, by: Person): Promise<Question> => {
      const question = store.find(id);
      if (question === null) throw new Problem("unknown_question", `there is no question ${id}`);
      if (question.state !== "open") throw endedProblem(question);
      const end = answerOf(question, given, { by, at: clock.now(), redactor });
      const isFirst = await settle(id, end);
      const answered = store.find(id) ?? question;
      if (!isFirst) throw endedProblem(answered);
      return answered;
    },
    /** The run no longer waits for the answer. */
    withdraw,
    /** Withdraws the open questions of all runs but these. */
    withdrawAllBut: async (alive: ReadonlySet<string>): Promise<void> => {
      const left = store.open().filter(({ instanceId }) => !alive.has(instanceId));
      for (const { id } of left) await withdraw(id);
      await store.forgetWhole((instanceId) => !alive.has(instanceId));
    },
    /** An answer as the person gave it, for the run alone. */
    wholeAnswer: ({ id, answer }: Question): Answer | null => store.wholeAnswer(id) ?? answer,
    /** The run has ended: it needs no answer as a person gave it. */
    runEnded: (instanceId: string) => store.forgetWhole((one) => one === instanceId),
    find: store.find,
    latest: store.latest,
    ofRun: store.ofRun,
    list: store.list,
    use: (id: string, requestHash: string): Promise<boolean> =>
      store.use(id, requestHash, clock.now()),
    /** Each question once it is stored, and once it has ended; both after their commits. */
    changed$: changed$.asObservable(),
    /** Cancels all timers. */
    stop: (): void => {
      for (const cancel of timers.values()) cancel();
      timers.clear();
    },
  };
}

export type Questions = ReturnType<typeof createQuestions>;

function openQuestion(
  { kind, agent, gates, instanceId, subject, prompt, form, fallback, seconds }: NewQuestion,
  at: number,
  { redactValue }: Redactor,
): Redacted<Question> {
  return {
    kind,
    agent,
    gates,
    instanceId,
    subject,
    ...redactValue({ prompt, form, fallback }),
    id: uuidV7(),
    at,
    until: at + Math.round(seconds * 1000),
    state: "open",
    answer: null,
    answeredAt: null,
    by: null,
  };
}

/** Throws Problem `malformed`. */
function answerOf(
  question: Question,
  given: Answer,
  { by, at, redactor: { redact, redactValue } }: { by: Person; at: number; redactor: Redactor },
): Settlement {
  const checked = checkAnswer(question.form, given);
  if (typeof checked === "string") {
    const shown = JSON.stringify(redactValue(given));
    throw new Problem("malformed", `${shown} is not ${checked}`);
  }
  const { value } = checked;
  const entry = auditEntry(answerAct(question, value), { by, at, redact });
  const answer = redactValue(value);
  const whole = answer === value ? null : value;
  return { state: "answered", answer, whole, by, at, entry };
}

function answerAct({ kind, agent, instanceId, subject, prompt }: Question, answer: Answer): Act {
  const about = { agent, instanceId };
  const given = answerText(kind, answer);
  return kind === "ask"
    ? { act: "answer", ...about, detail: `${given} (${prompt})` }
    : { act: "approve", ...about, detail: `${given} (${kind} ${subject})` };
}

/** The error for an answer to a question that has ended. */
export function endedProblem(question: Question): Problem {
  return new Problem("answered", `${endText(question)} (${isoTime(question.answeredAt ?? 0)})`);
}
