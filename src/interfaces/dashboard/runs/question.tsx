import type { TargetedSubmitEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { answerText, heldBy, rangeText } from "../../../foundation/contracts/questions.ts";
import type { QuestionView } from "../../../foundation/contracts/question-views.ts";
import { byText, shownAnswer, shownText } from "./question-words.ts";
import { Difference } from "./difference.tsx";
import { Fold } from "../kit/table.tsx";
import { ListTime, Time } from "../kit/time.tsx";
import { post } from "../live/api.ts";
import { useDocument } from "../live/use-document.ts";
import { showToast } from "../live/toasts.ts";
import { AgentLink, RunLink } from "./run-parts.tsx";
import { pathOf } from "../text/addresses.ts";

interface QuestionProps {
  readonly question: QuestionView;
  /** The address that takes the form without a script. */
  readonly action: string;
  /** Sends the text of the field, or the pressed choice. */
  readonly send?: (question: QuestionView, answer: string) => Promise<unknown>;
}

/**
 * A question with the form of its answer, or its end. A model wrote the prompt and the choices, and strangers may steer
 * it: both are text without links, and hidden characters are shown.
 */
export function Question(props: QuestionProps) {
  const { question } = props;
  const isOpen = question.state === "open";
  const held = heldBy(question);
  return (
    <>
      <Prompt question={question} isWhole={isOpen} />
      {question.difference !== undefined && <Proposed {...question} />}
      {held !== null && <p class="sub">Held by {held}.</p>}
      {isOpen ? <AnswerForm {...props} /> : <QuestionEnd {...question} />}
    </>
  );
}

/** The subject of a decision; a long difference leads to its whole text. */
function Proposed({ id, difference }: QuestionView) {
  const path = () => pathOf`/api/questions/${id}`;
  const [isWhole, setWhole] = useState(false);
  const { text = "", isCut = false } = difference ?? {};
  if (isWhole) return <WholeDifference path={path} />;
  return (
    <>
      {text !== "" && <Difference text={shownText(text)} />}
      {isCut && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          Show the whole difference
        </button>
      )}
    </>
  );
}

function WholeDifference({ path }: { readonly path: () => string }) {
  const { value, failure } = useDocument<QuestionView>(path, { isQuiet: true });
  if (value === null) return <p class="muted note">{failure || "Reading the difference …"}</p>;
  return <Difference text={shownText(value.difference?.text ?? "")} />;
}

/** Longer prompts of ended questions are folded. */
const longPrompt = 160;

function Prompt({ question, isWhole }: Pick<QuestionProps, "question"> & { isWhole: boolean }) {
  const text = shownText(question.prompt);
  const whole = (
    <p class="question-prompt" id={`prompt-${question.id}`} dir="auto">
      {text}
    </p>
  );
  const [start = ""] = text.slice(0, longPrompt).split("\n");
  return isWhole || start === text ? whole : <Fold summary={`${start} …`}>{whole}</Fold>;
}

function AnswerForm({ question, action, send }: QuestionProps) {
  const { id, kind, fallback, until } = question;
  const isBusy = useRef(false);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    if (send === undefined) return;
    event.preventDefault();
    const answer = new FormData(event.currentTarget, event.submitter).get("answer");
    if (typeof answer !== "string" || isBusy.current) return;
    isBusy.current = true;
    void send(question, answer).finally(() => (isBusy.current = false));
  };
  return (
    <>
      <form method="post" action={action} onSubmit={submit}>
        <div class="answers" role="group" aria-labelledby={`prompt-${id}`}>
          <Fields {...question} />
        </div>
      </form>
      <p class="sub muted">
        Unanswered,{" "}
        {kind === "memory"
          ? "it is dropped"
          : fallback === null
            ? "the run ends"
            : `the answer is “${shownAnswer(question, fallback)}”`}{" "}
        <Time at={until} side="future" />.
      </p>
    </>
  );
}

/** The answer that edits a config stands behind the others. */
function quietLast(kind: QuestionView["kind"], choices: readonly string[]): readonly string[] {
  if (kind === "ask") return choices;
  return choices.toSorted((a, b) => Number(a === "always") - Number(b === "always"));
}

function Fields({ id, agent, kind, form }: QuestionView) {
  if (form.kind === "choice" || form.kind === "boolean") {
    const choices =
      form.kind === "choice" ? quietLast(kind, form.choices) : (["yes", "no"] as const);
    return (
      <>
        {choices.map((choice) => {
          const isForGood = kind !== "ask" && choice === "always";
          const isFirst = kind !== "ask" && (choice === "once" || choice === "allow");
          const look = isFirst ? "button primary" : "button";
          return (
            <button
              class={isForGood ? "link" : look}
              type="submit"
              name="answer"
              value={choice}
              key={choice}
            >
              {shownText(answerText(kind, choice))}
              {isForGood && ` (edits agents/${agent}/config.toml)`}
            </button>
          );
        })}
      </>
    );
  }
  const field = { name: "answer", required: true, "aria-labelledby": `prompt-${id}` };
  const { min, max } = form.kind === "number" ? form : { min: null, max: null };
  const limits = { min: min ?? undefined, max: max ?? undefined };
  return (
    <>
      {form.kind === "text" ? (
        <textarea rows={3} maxLength={form.maxLength} {...field} />
      ) : (
        <input type="number" step="any" inputMode="decimal" {...limits} {...field} />
      )}
      {form.kind === "number" && <span class="sub">{rangeText(min, max)}</span>}
      <button class="button primary" type="submit">
        Answer
      </button>
    </>
  );
}

/** How a question ended: the answer, who gave it, and when. */
function QuestionEnd({ kind, state, answer, answeredAt, by }: QuestionView) {
  return (
    <p class="question-end">
      {state === "withdrawn" ? (
        <span title="No answer is needed: the run ended before a person answered.">
          Withdrawn: the run ended
        </span>
      ) : (
        <>
          <strong>{answer === null ? "The run ended" : shownAnswer({ kind }, answer)}</strong> ·{" "}
          {by === null ? "no person answered in time" : byText(by)}
        </>
      )}
      {answeredAt !== null && (
        <>
          {" · "}
          <ListTime at={answeredAt} />
        </>
      )}
    </p>
  );
}

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
    const path = pathOf`/api/questions/${question.id}/answer`;
    const answered = await post<QuestionView>(path, { answer: given });
    if (answered?.answer != null) showToast(`Answered: ${shownAnswer(question, answered.answer)}`);
    // Reads again after a refused answer, too: another person may have been first.
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
            {question.kind === "memory" ? "proposed" : "asked"} <ListTime at={question.at} />
          </p>
          <Question
            question={question}
            action={pathOf`/dashboard/questions/${question.id}/answer`}
            send={send}
          />
        </li>
      ))}
    </ul>
  );
}
