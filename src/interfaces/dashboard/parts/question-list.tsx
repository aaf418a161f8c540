import type { QuestionView } from "../../../foundation/contracts/question-views.ts";
import { post } from "../live/api.ts";
import { showToast } from "../live/toasts.ts";
import { shownAnswer } from "../text/question-words.ts";
import { Question } from "./question.tsx";
import { AgentLink, RunLink } from "./run-parts.tsx";
import { Time } from "./time.tsx";

interface QuestionListProps {
  readonly id: string;
  readonly questions: readonly QuestionView[];
  /** Reads the questions again. */
  readonly refresh: () => void;
  /** True on the page of the run, which needs no links to it. */
  readonly isOfRun?: boolean;
}

/** Questions of runs, which are answered here. */
export function QuestionList({ id, questions, refresh, isOfRun = false }: QuestionListProps) {
  const send = async (question: QuestionView, given: string): Promise<void> => {
    const path = `/api/questions/${encodeURIComponent(question.id)}/answer`;
    const answered = await post<QuestionView>(path, { answer: given });
    if (answered?.answer != null) showToast(`Answered: ${shownAnswer(question, answered.answer)}`);
    // A refused answer, too: another person may have been first.
    refresh();
  };
  return (
    <ul class="questions" id={id}>
      {questions.map((question) => (
        <li key={question.id} id={question.id} class={question.state === "open" ? "panel" : ""}>
          <p class="sub">
            {isOfRun || (
              <>
                <AgentLink agent={question.agent} /> ·{" "}
                <RunLink agent={question.agent} instanceId={question.instanceId} /> ·{" "}
              </>
            )}
            asked <Time at={question.at} />
          </p>
          <Question
            question={question}
            action={`/dashboard/questions/${encodeURIComponent(question.id)}/answer`}
            send={send}
          />
        </li>
      ))}
    </ul>
  );
}
