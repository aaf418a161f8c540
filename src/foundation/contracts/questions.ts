import type { z } from "zod";
import type {
  answerFormSchema,
  answerSchema,
  personSchema,
  questionView,
} from "./question-views.ts";

/** The form of an answer. */
export type AnswerForm = z.infer<typeof answerFormSchema>;
export type Answer = z.infer<typeof answerSchema>;
/** Who acted; without a name but for a chat user, an API token, and a link, which has that of its alert target. */
export type Person = Readonly<z.infer<typeof personSchema>>;
/** A question of a run to people, with its answer once it has one. Times are epoch ms. */
export type Question = Parameters<typeof questionView>[0];
export type QuestionKind = Question["kind"];

/** The person at the terminal of `al start`, or who changes the key's file: known to the machine, not to us. */
export const atTerminal: Person = { via: "terminal", name: "", from: null };

interface Gated {
  readonly agent: string;
  readonly gates: readonly string[];
}

/**
 * The callers whose gates hold a request, in words; null if none does. Readers make the sentence from the field, which an API
 * token may not see whole.
 */
export function heldBy({ agent, gates }: Gated): string | null {
  const callers = gates.filter((name) => name !== agent);
  return callers.length === 0 ? null : `the gates of ${callers.join(", ")}, which called it`;
}

/** The end of a question's id: the beginnings are alike. */
export const shortId = (id: string): string => id.slice(-8);

/**
 * `steer` is a text for the model, `delivery` the event of a webhook, `stop` ends the run after its turn, `continue` started a
 * run from its session.
 */
export const inboxKinds = ["steer", "stop", "continue", "delivery"] as const;
export type InboxKind = (typeof inboxKinds)[number];

/** Limits of the messages to a run: characters of a text, and how many may wait for the run. */
export const inboxLimits = { text: 4_000, unread: 50 } as const;

/** A message of a person about a run. Times are epoch ms. */
export interface InboxMessage {
  readonly seq: number;
  readonly at: number;
  readonly instanceId: string;
  readonly kind: InboxKind;
  readonly text: string;
  readonly by: Person;
  /** Null until the run has it. */
  readonly receivedAt: number | null;
  /** The run that a `continue` started; null until it has started, and for the others. */
  readonly continuedBy: string | null;
}

/** The answer in the form's type, or the error text with the expected form. A text is read as that type. */
export function checkAnswer(form: AnswerForm, given: Answer): { readonly value: Answer } | string {
  const text = String(given).trim();
  switch (form.kind) {
    case "choice": {
      const { choices } = form;
      const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
      return found === undefined ? answersText(form) : { value: found };
    }
    case "boolean":
      if (/^(true|yes)$/i.test(text)) return { value: true };
      return /^(false|no)$/i.test(text) ? { value: false } : answersText(form);
    case "number":
      return checkNumber(form, text);
    case "text": {
      const isWithin = text !== "" && text.length <= form.maxLength;
      return isWithin ? { value: text } : answersText(form);
    }
  }
}

function checkNumber(
  { min, max }: Extract<AnswerForm, { kind: "number" }>,
  text: string,
): { readonly value: number } | string {
  const value = text === "" ? NaN : Number(text);
  const isWithin = value >= (min ?? -Infinity) && value <= (max ?? Infinity);
  return Number.isFinite(value) && isWithin ? { value } : rangeText(min, max);
}

const approvals: Readonly<Record<string, string>> = {
  allow: "Allow",
  once: "Allow once",
  run: "Allow for this run",
  always: "Always allow",
  deny: "Deny",
};

/** The form that an answer link offers: who holds a link can't allow for good, which edits a config. */
export function formOfLink({ kind, form }: Pick<Question, "kind" | "form">): AnswerForm {
  if (kind === "ask" || form.kind !== "choice") return form;
  return { ...form, choices: form.choices.filter((choice) => choice !== "always") };
}

/** An answer in words; the choices of an approval are sentences. */
export function answerText(kind: QuestionKind, answer: Answer): string {
  if (typeof answer === "boolean") return answer ? "yes" : "no";
  return (kind === "ask" ? undefined : approvals[answer]) ?? String(answer);
}

/** The answers that a form accepts: `one of: yes, no`. */
export function answersText(form: AnswerForm): string {
  switch (form.kind) {
    case "choice":
      return `one of: ${form.choices.join(", ")}`;
    case "boolean":
      return "yes or no";
    case "number":
      return rangeText(form.min, form.max);
    case "text":
      return `a text of 1 to ${form.maxLength} characters`;
  }
}

/** The numbers that a form takes. */
export function rangeText(min: number | null, max: number | null): string {
  if (min !== null && max !== null) return `a number from ${min} to ${max}`;
  if (min !== null) return `a number of at least ${min}`;
  return max === null ? "a number" : `a number of at most ${max}`;
}

const ways: Readonly<Record<Person["via"], string>> = {
  key: "the API key",
  login: "the dashboard",
  token: "token",
  link: "a link",
  slack: "Slack",
  telegram: "Telegram",
  terminal: "the terminal",
  webhook: "a webhook",
};

/** How a question ended, in words, such as `Ada via Slack answered: yes`. */
export function endText({ state, kind, answer, by }: Question): string {
  if (state === "withdrawn") return "withdrawn: the run ended";
  const who = by === null ? "no person answered in time" : `${personText(by)} answered`;
  return answer === null ? who : `${who}: ${answerText(kind, answer)}`;
}

/** A person in words, such as `Ada via Slack`; the same words in the audit trail, on pages and in logs. */
export function personText({ via, name, from }: Person): string {
  // Only commands on the scheduler's machine reach the operator's socket.
  if (via === "key" && from === null) return "al on this machine";
  return name === "" ? ways[via] : `${name} via ${ways[via]}`;
}

/** A person with the place, for a table: `dashboard from 10.0.0.7`. */
export function whoText(by: Person): string {
  const who = personText(by).replace(/^(the|a) /, "");
  return by.from === null ? who : `${who} from ${by.from}`;
}
