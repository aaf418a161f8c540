/** @jsxImportSource preact */
import type { QuestionView } from "../../foundation/contracts/question-views.ts";
import { Card, cardPage } from "./card-pages.tsx";
import { QuestionEnd, QuestionForm } from "./parts/question-form.tsx";
import type { Document } from "./send-page.tsx";
import { shownText } from "./text/question-words.ts";

/** The page of an answer link: the form of an open question, or how the question ended. `problem` is about an answer. */
export function answerPage(
  question: QuestionView,
  action: string,
  problem: string | null = null,
): Document {
  const { agent, state, prompt } = question;
  return cardPage(
    `Question of ${agent}`,
    <Card title={`${agent} asks`}>
      {problem !== null && (
        <p class="notice error" role="alert">
          {problem}
        </p>
      )}
      {state === "open" ? (
        <QuestionForm question={question} action={action} />
      ) : (
        <>
          <p class="question-prompt" dir="auto">
            {shownText(prompt)}
          </p>
          <QuestionEnd question={question} />
        </>
      )}
    </Card>,
  );
}
