/** @jsxImportSource preact */
import type { ComponentChildren, TargetedSubmitEvent } from "preact";
import { useRef } from "preact/hooks";
import { answerText } from "../../../foundation/contracts/questions.ts";
import type { AnswerForm } from "../../../foundation/contracts/questions.ts";
import type { QuestionView } from "../../../foundation/contracts/question-views.ts";
import { byText, shownAnswer, shownText } from "../text/question-words.ts";
import { Time } from "./time.tsx";

/** Sends an answer, as the text of the field or the pressed choice. */
export type SendAnswer = (question: QuestionView, answer: string) => Promise<unknown>;

interface QuestionProps {
  readonly question: QuestionView;
  /** The address that takes the form without a script. */
  readonly action: string;
  readonly send?: SendAnswer;
}

/**
 * An open question: its prompt, the form of its answer, and what happens without one. A model wrote the prompt and the
 * choices, and strangers may steer it: both are text without links, and hidden characters are shown.
 */
export function QuestionForm({ question, action, send }: QuestionProps) {
  const { id, prompt, fallback, until } = question;
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
      <p class="question-prompt" id={`prompt-${id}`} dir="auto">
        {shownText(prompt)}
      </p>
      <form method="post" action={action} onSubmit={submit}>
        <div class="answers" role="group" aria-labelledby={`prompt-${id}`}>
          <Fields {...question} />
        </div>
      </form>
      <p class="sub muted">
        If no person answers,{" "}
        {fallback === null ? "the run ends" : `the answer is “${shownAnswer(question, fallback)}”`}{" "}
        <Time at={until} side="future" />.
      </p>
    </>
  );
}

function Fields({ id, kind, form }: QuestionView) {
  const field = { name: "answer", required: true, "aria-labelledby": `prompt-${id}` };
  if (form.kind === "text") {
    return <WithButton field={<textarea rows={3} maxLength={form.maxLength} {...field} />} />;
  }
  if (form.kind === "number") {
    const limits = { min: form.min ?? undefined, max: form.max ?? undefined };
    const input = <input type="number" step="any" inputMode="decimal" {...limits} {...field} />;
    return <WithButton field={input} note={limitsText(form)} />;
  }
  const choices = form.kind === "boolean" ? ["yes", "no"] : form.choices;
  return (
    <>
      {choices.map((choice) => (
        <button class="button" type="submit" name="answer" value={choice} key={choice}>
          {shownText(form.kind === "boolean" ? capitalized(choice) : answerText(kind, choice))}
        </button>
      ))}
    </>
  );
}

interface WithButtonProps {
  readonly field: ComponentChildren;
  readonly note?: string;
}

function WithButton({ field, note = "" }: WithButtonProps) {
  return (
    <>
      {field}
      <span class="sub">{note}</span>
      <button class="button primary" type="submit">
        Answer
      </button>
    </>
  );
}

function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function limitsText({ min, max }: Extract<AnswerForm, { kind: "number" }>): string {
  if (min !== null && max !== null) return `from ${min} to ${max}`;
  if (min !== null) return `at least ${min}`;
  return max === null ? "" : `at most ${max}`;
}

/** How a question ended: the answer, who gave it, and when. */
export function QuestionEnd({ question }: { readonly question: QuestionView }) {
  const { state, answer, answeredAt, by } = question;
  const who = by === null ? "no person answered in time" : byText(by);
  return (
    <p class="question-end">
      {state === "withdrawn" ? (
        "The run no longer waits for an answer"
      ) : (
        <>
          <strong>{answer === null ? "The run ended" : shownAnswer(question, answer)}</strong> ·{" "}
          {who}
        </>
      )}{" "}
      · <Time at={answeredAt} />
    </p>
  );
}
