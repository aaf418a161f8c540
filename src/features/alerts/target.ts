import type { AlertText, AlertSeverity } from "./rules/alert-text.ts";
import type { AlertTarget } from "../../../streams/alert-options.ts";
import type { AlertMessage, TargetAnswer } from "./rules/alert.ts";
import type { AnswerButton } from "./answer-buttons.ts";
import type { OutgoingAnswer, SendRequest } from "../../foundation/contracts/outgoing-request.ts";
import { Problem } from "../../foundation/errors.ts";
import { plainText } from "../../foundation/contracts/plain-text.ts";

/** An alert in words, with all that a target may show beside them. */
export interface TargetMessage extends AlertMessage, AlertText {
  /** When this attempt is made, epoch ms. */
  readonly now: number;
  /** Each answers the question of the alert with one press. */
  readonly buttons: readonly AnswerButton[];
  /** The label of its link. */
  readonly linkLabel: string;
}

/** The fields of a credential. */
export type Fields = Readonly<Record<string, string>>;

/** A type of target. */
export interface TargetType {
  /** Throws a Problem when a field of the credential can't be used; sends nothing. */
  readonly check: (fields: Fields, target: AlertTarget) => void;
  /** Rejects when no answer came. An error is one line of any length, with secrets. */
  readonly send: (attempt: TargetAttempt) => Promise<TargetAnswer>;
}

export interface TargetAttempt {
  readonly message: TargetMessage;
  readonly target: AlertTarget;
  readonly fields: Fields;
  readonly sendRequest: SendRequest;
  /** Timeout of the whole attempt, where `sendRequest` does not set it. */
  readonly timeoutMs: number;
  readonly warn: (message: string) => void;
}

/** A type of target that takes one POST. */
export interface HttpForm {
  /** Throws a Problem when a field can't be used. */
  readonly address: (fields: Fields, message?: TargetMessage) => URL;
  /** The JSON body of the request. */
  readonly body: (message: TargetMessage, fields: Fields) => unknown;
  readonly headers?: (body: string, message: TargetMessage, fields: Fields) => Fields;
  /** Throws a Problem when another field can't be used. */
  readonly check?: (fields: Fields, target: AlertTarget) => void;
  /** From the response: a reference by which the message about a question can be edited later. */
  readonly receipt?: (json: unknown) => string | undefined;
  /** Meaning of an answer; null if its status is enough. */
  readonly meaning?: (answer: JsonAnswer) => Meaning | null;
}

export interface JsonAnswer extends OutgoingAnswer {
  /** Undefined when the text is not JSON. */
  readonly json: unknown;
}

export interface Meaning {
  readonly type: "accepted" | "failed" | "gone";
  /** Replaces the answer's text as the reason. */
  readonly reason?: string;
  /** Replaces `Retry-After`, in seconds. */
  readonly retryAfter?: number;
}

/** The address in a field. Errors do not quote it, as it is a secret. */
export function addressIn(fields: Fields, field: string): URL {
  const url = URL.parse(requiredField(fields, field).trim());
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw unusable(field, "is not an address that begins with https:// or http://");
  }
  if (url.username !== "" || url.password !== "") {
    throw unusable(field, "has a user or password in it, which would not be sent");
  }
  return url;
}

export function requiredField(fields: Fields, field: string): string {
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (value === undefined || value.trim() === "") throw unusable(field, "is missing");
  return value;
}

export function optionalField(fields: Fields, field: string): string | null {
  const value = Object.hasOwn(fields, field) ? (fields[field] ?? "").trim() : "";
  return value === "" ? null : value;
}

export function unusable(field: string, why: string): Problem {
  return new Problem("unusable_credential", `its field ${field} ${why}`);
}

/** The first `length` characters of a text, the last of them a mark if more was cut off. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  // A pair of surrogates is not cut in two.
  return `${text.slice(0, length - 3).replace(/[\ud800-\udbff]$/, "")}...`;
}

/** Text by strangers as one line, without characters that act on a terminal or turn the direction of writing. */
export function oneLine(text: string): string {
  return plainText(text)
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** A red, an orange and a green circle. */
export const severityMarks: Readonly<Record<AlertSeverity, string>> = {
  error: "\u{1f534}",
  warning: "\u{1f7e0}",
  ok: "\u{1f7e2}",
};
