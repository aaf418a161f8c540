import { z } from "zod";
import { questionSchema } from "../../../foundation/contracts/question-views.ts";
import { fittingPage } from "../bounded.ts";
import { agentName, cursor, labelled, limitOf, next, readsOnly, tool } from "../tool.ts";

const questionRow = labelled(
  questionSchema,
  ["id", "kind", "agent", "gates", "instanceId", "state", "at", "until", "answeredAt"],
  ["subject", "prompt", "difference", "form", "fallback", "answer", "by"],
);

export const questions = tool({
  title: "List questions",
  description:
    "Questions of runs to people, and their changes to memories that a person has to allow, newest first; answer one with the tool act.",
  annotations: readsOnly,
  input: z.object({
    state: z.enum(["open", "settled"]).default("open"),
    agent: agentName.optional(),
    limit: limitOf(20),
    cursor,
  }),
  output: z.object({ questions: z.array(questionRow.schema), next }),
  run: async ({ cursor: before, limit, ...query }, api) => {
    const { rows, ...rest } = await fittingPage(limit, async (most) => {
      const page = await api.perform("GET /api/questions", { ...query, before, limit: most });
      return { rows: page.questions.map(questionRow.of), next: page.next };
    });
    return { questions: rows, ...rest };
  },
});
