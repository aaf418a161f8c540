import { questionLimits } from "../../foundation/contracts/question-kinds.ts";
import { isoTime } from "../../../streams/iso-times.ts";
import { checkAnswer, endText, personText, shortId } from "../../foundation/contracts/questions.ts";
import type { Answer, AnswerForm, Question } from "../../foundation/contracts/questions.ts";
import type { NewQuestion } from "../../features/people/questions.ts";
import { messageOf } from "../../foundation/errors.ts";
import { refusal, type RequestAnswer, type RequestBody } from "../wire/protocol.ts";
import type { LiveRun, Performers } from "./live-run.ts";
import { hungUpMs, requestId, type PendingRequest } from "./pending-requests.ts";
import type { RequestContext } from "./request-context.ts";

/** Limit of the questions of one run, those of its gates included: people get a message for each. */
const maxQuestions = 100;

/** Why a run may not ask another question; null if it may. Questions that are being stored don't count: they are few. */
export function tooManyQuestions({ length }: readonly Question[]): string | null {
  return length < maxQuestions ? null : `this run has asked ${length} questions already`;
}

/** Suspends a run until a question has ended; returns a function that cancels the wait. */
export function waitForAnswer(
  run: LiveRun,
  pending: PendingRequest<Question>,
  asked: Promise<Question>,
  { questions, endUnanswered, onProblem }: RequestContext,
): () => void {
  let isOpen = true;
  pending.suspend({ pausesClock: true, text: "waits for an answer" });
  const ended = asked.then((question) => {
    if (isOpen) {
      const { id, kind, prompt } = question;
      if (kind === "ask" && !run.isSessionOver) run.questions.set(id, { prompt, isLeft: false });
      run.showStatus(`waits for an answer: ${question.prompt}`);
      run.note(`waits for an answer (al answer ${shortId(question.id)}): ${question.prompt}`);
    }
    return questions.settled(question.id);
  });
  ended.then(
    (question) => {
      if (question.state !== "withdrawn") run.questions.delete(question.id);
      if (!isOpen) return;
      isOpen = false;
      run.note(endText(question));
      // The run gets no answer: it must not continue, not even to handle an error.
      if (question.answer === null) endUnanswered(run.instanceId);
      else pending.answer(question);
    },
    (error: unknown) => pending.refuse(error),
  );
  return () => {
    isOpen = false;
    const leave = ({ id }: Question): Promise<unknown> => {
      const left = run.questions.get(id);
      // A program without a model gives up on purpose.
      if (run.modelCalls.isEmpty) run.questions.delete(id);
      else if (left !== undefined) left.isLeft = true;
      return questions.withdraw(id);
    };
    reported(asked.then(leave), onProblem);
    pending.refuse(new Error("the run no longer waits for it"));
  };
}

function reported(withdrawn: Promise<unknown>, onProblem: (message: string) => void): void {
  withdrawn.catch((error: unknown) => onProblem(`the end of a question: ${messageOf(error)}`));
}

/** The id of the pending request that waits for a question. */
export function waitId({
  kind,
  instanceId,
  subject,
}: Pick<Question, "kind" | "instanceId" | "subject">): string {
  // No request has a name with a colon in it.
  return kind === "ask" ? subject : `${instanceId}/approve:${kind}/${subject}`;
}

/** Questions of runs: a run is suspended until a person has answered. */
export function createAsks(context: RequestContext) {
  const { questions, onProblem } = context;
  const performers: Performers<"ask"> = {
    ask: async (run, request) => {
      const question = newQuestion(run, requestId(request), request.request);
      const before = questions.latest(run.instanceId, "ask", question.subject);
      if (before?.answer != null) return answerOf(before, questions);
      const tooMany = before === null ? tooManyQuestions(questions.ofRun(run.instanceId)) : null;
      if (tooMany !== null)
        throw refusal("too_many_questions", `${tooMany}; combine several into one`);
      const begin = (pending: PendingRequest<Question>) =>
        waitForAnswer(run, pending, questions.open(question), context);
      return answerOf(await run.pending.ask<Question>(request, begin, hungUpMs), questions);
    },
  };
  return {
    performers,
    /** An adopted run waits as before, and must repeat its request; one whose question ran out ends. */
    resume: (run: LiveRun) => {
      for (const question of questions.ofRun(run.instanceId)) {
        const isUnanswered = question.state === "expired" && question.answer === null;
        if (question.state !== "open" && !isUnanswered) continue;
        run.pending.expect(waitId(question), (pending: PendingRequest<Question>) =>
          waitForAnswer(run, pending, Promise.resolve(question), context),
        );
      }
    },
    /** The run has ended. */
    end: ({ instanceId }: LiveRun) => {
      const withdraw = async (): Promise<void> => {
        const open = questions.ofRun(instanceId).filter(({ state }) => state === "open");
        await Promise.all(open.map(({ id }) => questions.withdraw(id)));
        await questions.runEnded(instanceId);
      };
      reported(withdraw(), onProblem);
    },
  };
}

function answerOf(
  question: Question,
  { wholeAnswer }: RequestContext["questions"],
): RequestAnswer<"ask"> {
  const { by, answeredAt } = question;
  const answer = wholeAnswer(question);
  if (answer === null) throw refusal("unavailable", "The question has no answer.");
  const who = by === null ? null : personText(by);
  return { ok: true, answer, by: who, at: isoTime(answeredAt ?? 0) };
}

/** Throws a Problem `malformed`. */
function newQuestion(
  { agent, instanceId }: LiveRun,
  subject: string,
  body: RequestBody<"ask">,
): NewQuestion {
  const form = formOf(body);
  const { question: prompt, timeoutSeconds: seconds = questionLimits.defaultSeconds } = body;
  const fallback = body.default === undefined ? null : checkedDefault(form, body.default);
  return { kind: "ask", agent, gates: [], instanceId, subject, prompt, form, fallback, seconds };
}

function formOf({ choices, type = "text", min, max }: RequestBody<"ask">): AnswerForm {
  if (choices !== undefined) return { kind: "choice", choices };
  if (type === "number") return { kind: "number", min: min ?? null, max: max ?? null };
  return type === "boolean"
    ? { kind: "boolean" }
    : { kind: "text", maxLength: questionLimits.text };
}

function checkedDefault(form: AnswerForm, given: Answer): Answer {
  const checked = checkAnswer(form, given);
  if (typeof checked !== "string") return checked.value;
  throw refusal("malformed", `default: it is not ${checked}`);
}
