/** @jsxImportSource preact */
import type { QuestionView } from "../../../foundation/contracts/question-views.ts";
import { post } from "../live/api.ts";
import { showToast } from "../live/toasts.ts";
import { shownAnswer, shownText } from "../text/question-words.ts";
import { Panel } from "./panel.tsx";
import { QuestionEnd, QuestionForm } from "./question-form.tsx";
import { AgentLink, RunLink } from "./run-parts.tsx";
import { Fold } from "./table.tsx";
import { Time } from "./time.tsx";

interface QuestionListProps {
  readonly id: string;
  readonly questions: readonly QuestionView[];
  /** Reads the questions again. */
  readonly refresh: () => void;
  /** True on the page of the run, which needs no links to it. */
  readonly isOfRun?: boolean;
}

/** Questions of runs: the form of an open one, the end of another. */
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
          {question.state === "open" ? (
            <QuestionForm
              question={question}
              action={`/dashboard/questions/${encodeURIComponent(question.id)}/answer`}
              send={send}
            />
          ) : (
            <>
              <Prompt text={shownText(question.prompt)} />
              <QuestionEnd question={question} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Longer prompts of ended questions are folded. */
const longPrompt = 160;

function Prompt({ text }: { readonly text: string }) {
  if (text.length <= longPrompt && !text.includes("\n")) return <p dir="auto">{text}</p>;
  const [start = ""] = text.slice(0, longPrompt).split("\n");
  return (
    <Fold summary={`${start} …`}>
      <p class="question-prompt" dir="auto">
        {text}
      </p>
    </Fold>
  );
}

/** The questions of a run, on its page. */
export function RunQuestions(props: Omit<QuestionListProps, "id">) {
  if (props.questions.length === 0) return null;
  return (
    <Panel id="questions" title="Questions to people">
      <QuestionList id="question-list" isOfRun={true} {...props} />
    </Panel>
  );
}
