import { z } from "zod";
import { pageOf } from "../../foundation/contracts/page-of.ts";
import {
  answerSchema,
  questionSchema,
  questionsQuerySchema,
  questionsSchema,
  questionView,
  type QuestionView,
} from "../../foundation/contracts/question-views.ts";
import { answersText, checkAnswer, formOfLink } from "../../foundation/contracts/questions.ts";
import type { Answer, Question } from "../../foundation/contracts/questions.ts";
import { Problem } from "../../foundation/errors.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { auditQuerySchema, auditSchema } from "./audit-report.ts";
import type { Audit } from "./audit.ts";
import type { Questions } from "./questions.ts";

interface AuditContext {
  readonly audit: Pick<Audit, "page">;
}

export interface PeopleContext extends AuditContext {
  readonly questions: Pick<Questions, "list" | "find" | "answer">;
  readonly differenceOf: DifferenceOf;
  /**
   * Changes the agent's file so that a gate no longer holds the question's subject; resolves with what undoes that.
   * Both reject if the file can't be edited.
   */
  readonly allowAlways: (question: Question) => Promise<() => Promise<unknown>>;
}

/**
 * The changes that a question asks to keep, of which only the first `most` characters are needed; null for other questions.
 * Never rejects.
 */
export type DifferenceOf = (question: Question, most?: number) => Promise<string | null>;

/** A list shows as much of a difference, in characters, and so many of them: comparing takes time. */
const listed = { characters: 8_000, differences: 20 } as const;
const notCompared = { difference: { text: "", isCut: true } };

/** A question with its difference, which is cut after `most` characters. */
export async function viewQuestion(
  question: Question,
  { differenceOf }: Pick<PeopleContext, "differenceOf">,
  most?: number,
): Promise<QuestionView> {
  const view = questionView(question);
  const text = await differenceOf(question, most);
  if (text === null) return view;
  const isCut = text.length > (most ?? Infinity);
  return { ...view, difference: { text: text.slice(0, most), isCut } };
}

const { read, change } = operationsOf<PeopleContext>("Questions");
const params = z.object({ id: z.string().max(64).meta({ description: "The question's `id`" }) });

export const listQuestions = operationsOf<{
  readonly questions: Pick<Questions, "list">;
  readonly differenceOf: DifferenceOf;
}>("Questions").read("/api/questions", {
  summary: "The questions of runs to people",
  description: "Newest first; `before` takes the `next` of an earlier page.",
  input: questionsQuerySchema,
  output: questionsSchema,
  changedBy: ["questions"],
  problems: [503],
  perform: async ({ limit, ...filter }, context) => {
    const list = (most: number) => context.questions.list({ ...filter, limit: most });
    const { rows, next } = pageOf(limit, list);
    const open = rows.filter(({ kind, state }) => kind === "memory" && state === "open");
    const compared = new Set(open.slice(0, listed.differences));
    const views = rows.map(async (one) =>
      compared.has(one)
        ? viewQuestion(one, context, listed.characters)
        : Promise.resolve({ ...questionView(one), ...(open.includes(one) && notCompared) }),
    );
    return { questions: await Promise.all(views), next };
  },
});

export const showQuestion = read("/api/questions/:id", {
  summary: "One question",
  params,
  output: questionSchema,
  problems: [404, 503],
  isAbout: ({ id }, isMine, { questions }) => isMine(questions.find(id)?.agent),
  perform: ({ id }, context) => {
    const question = context.questions.find(id);
    if (question === null) throw new Problem("unknown_question", `there is no question ${id}`);
    return viewQuestion(question, context);
  },
});

/**
 * An API token or a link can't allow always. To allow always first edits the agent's file: if it can't be edited, the
 * question stays open; if the answer is not the first, the edit is undone.
 */
export const answerQuestion = change("/api/questions/:id/answer", {
  summary: "Answer a question",
  description: "The first answer counts; a later one is a 409 that names the first person.",
  scope: "answer",
  params,
  input: z.strictObject({ answer: answerSchema }),
  output: questionSchema,
  problems: [403, 404, 409, 503],
  // An approval also opens the gates of the run's callers.
  isAbout: ({ id }, isMine, { questions }) => {
    const question = questions.find(id);
    if (question === null) return false;
    const { agent, gates, kind, subject } = question;
    // Changes to a shared memory concern all agents that read it.
    return [agent, ...gates, ...(kind === "memory" ? [subject] : [])].every(isMine);
  },
  // An answer to a run is stored together with its act.
  audit: (_input, { kind, agent, instanceId, subject, answer }) =>
    kind === "memory"
      ? { act: "approve", agent, instanceId, detail: `${answer} (memory ${subject})` }
      : null,
  perform: async ({ id, answer }, { questions, allowAlways }, { by }) => {
    const question = questions.find(id);
    const isAlways =
      question?.state === "open" && question.kind !== "ask" && isAlwaysIn(question, answer);
    if (isAlways && (by.via === "link" || by.via === "token")) {
      const accepted = answersText(formOfLink(question));
      throw new Problem("malformed", `a ${by.via} accepts ${accepted}; "always" needs a login`);
    }
    if (!isAlways) return questionView(await questions.answer(id, answer, by));
    const undo = await allowAlways(question);
    try {
      return questionView(await questions.answer(id, answer, by));
    } catch (error) {
      await undo();
      throw error;
    }
  },
});

function isAlwaysIn({ form }: Question, answer: Answer): boolean {
  const checked = checkAnswer(form, answer);
  return typeof checked !== "string" && checked.value === "always";
}

export const listActs = operationsOf<AuditContext>("Audit").read("/api/audit", {
  summary: "The acts of people: when, who, from where",
  description: "Newest first; `before` takes the `next` of an earlier page.",
  input: auditQuerySchema,
  output: auditSchema,
  // An answer is an act, too.
  changedBy: ["audit", "questions"],
  problems: [503],
  perform: (query, { audit }) => audit.page(query),
});
