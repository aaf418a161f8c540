import type { QuestionView } from "../../foundation/contracts/question-views.ts";
import { formOfLink } from "../../foundation/contracts/questions.ts";
import { Card, cardPage } from "./card-pages.tsx";
import { Question } from "./parts/question.tsx";
import type { Document } from "./send-page.tsx";

/** The page of an answer link; `problem` is about an answer that was refused. */
export function answerPage(question: QuestionView, action: string, problem = ""): Document {
  const form = formOfLink(question);
  const hasLess = question.state === "open" && form !== question.form;
  const card = (
    <Card title={`${question.agent} asks`}>
      <p class="notice error" role="alert" hidden={problem === ""}>
        {problem}
      </p>
      <Question question={{ ...question, form }} action={action} />
      <p class="sub muted" hidden={!hasLess}>
        To allow it for good, answer on the dashboard's page Questions or by <code>al answer</code>.
      </p>
    </Card>
  );
  return cardPage(`Question of ${question.agent}`, card);
}
