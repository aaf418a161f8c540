import { z } from "zod";
import { isoTimes, type InMs } from "../../../streams/iso-times.ts";
import { nullableText, pageSize } from "./wire-fields.ts";
import { personWays, questionKinds, questionLimits, questionStates } from "./question-kinds.ts";

/** Questions on the wire; times ISO 8601 UTC. */
const time = z.iso.datetime();

export const answerFormSchema = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("choice"), choices: z.array(z.string()).readonly() }),
    z.object({ kind: z.literal("text"), maxLength: z.int() }),
    z.object({ kind: z.literal("number"), min: z.number().nullable(), max: z.number().nullable() }),
    z.object({ kind: z.literal("boolean") }),
  ])
  .meta({ id: "AnswerForm" });

export const answerSchema = z.union([z.string().max(questionLimits.text), z.number(), z.boolean()]);

export const personSchema = z
  .object({
    via: z.enum(personWays),
    name: z.string().meta({ description: "Name of a chat user or an API token; otherwise empty" }),
    from: nullableText.meta({ description: "The address of the request" }),
  })
  .meta({ id: "Person" });

export const questionSchema = z
  .object({
    id: z.string(),
    kind: z.enum(questionKinds).meta({
      description:
        "`ask`: the run asked; else the approval of a host, of spending, of a call, of a tool, of changes to a memory",
    }),
    agent: z.string(),
    gates: z.array(z.string()).readonly().meta({
      description: "Agents whose gates hold the request: the run's agent and its callers",
    }),
    instanceId: z.string(),
    subject: z.string().meta({ description: "The host, agent, amount, tool or memory to approve" }),
    prompt: z.string(),
    difference: z
      .exactOptional(z.object({ text: z.string(), isCut: z.boolean() }))
      .meta({ description: "The changes to a memory; in a list cut after 8,000 characters" }),
    form: answerFormSchema,
    fallback: answerSchema.nullable().meta({
      description: "The answer if no person answers in time; null ends the run, or the proposal",
    }),
    at: time,
    until: time,
    state: z.enum(questionStates),
    answer: answerSchema.nullable(),
    answeredAt: time.nullable(),
    by: personSchema.nullable().meta({ description: "Null for an expired question" }),
  })
  .meta({ id: "Question" });
export type QuestionView = z.infer<typeof questionSchema>;

export function questionView(
  question: InMs<QuestionView, "at" | "until" | "answeredAt">,
): QuestionView {
  return isoTimes(question, "at", "until", "answeredAt");
}

export const questionsQuerySchema = z.object({
  state: z
    .enum(["open", "settled"])
    .optional()
    .meta({ description: "`settled`: all ended questions" }),
  agent: z.string().max(200).optional(),
  before: z.string().max(64).optional().meta({ description: "Only questions older than this id" }),
  limit: pageSize(200, 50),
});

export type QuestionsQuery = z.output<typeof questionsQuerySchema>;

export const questionsSchema = z
  .object({ questions: z.array(questionSchema).readonly(), next: nullableText })
  .meta({ id: "Questions" });
export type QuestionsView = z.infer<typeof questionsSchema>;
