import type { AlertText } from "./rules/alert-text.ts";
import type { AlertTarget } from "../../../streams/alert-options.ts";
import type { AlertMessage, TargetAnswer } from "../../foundation/contracts/alerts.ts";
import type { OutgoingAnswer, SendRequest } from "../../foundation/contracts/outgoing-request.ts";

/** An alert in words, with all that a target may show beside them. */
export interface TargetMessage extends AlertMessage, AlertText {
  /** When this attempt is made, epoch ms. */
  readonly now: number;
}

/** The fields of a credential. */
export type Fields = Readonly<Record<string, string>>;

/** A type of target. */
export interface TargetType {
  /** Throws a UserError when a field of the credential can't be used; sends nothing. */
  readonly check: (fields: Fields, target: AlertTarget) => void;
  /** Rejects when no answer came. An error is one line of any length, with secrets. */
  readonly send: (attempt: TargetAttempt) => Promise<TargetAnswer>;
}

export interface TargetAttempt {
  readonly message: TargetMessage;
  readonly target: AlertTarget;
  readonly fields: Fields;
  readonly sendRequest: SendRequest;
  /** For the whole of it, where it is not by `sendRequest`. */
  readonly timeoutMs: number;
  readonly warn: (message: string) => void;
}

/** A type of target that takes one POST. */
export interface HttpForm {
  /** Throws a UserError when a field can't be used. */
  readonly address: (fields: Fields) => URL;
  /** The JSON body of the request. */
  readonly body: (message: TargetMessage, fields: Fields) => unknown;
  readonly headers?: (body: string, message: TargetMessage, fields: Fields) => Fields;
  /** Throws a UserError when another field can't be used. */
  readonly check?: (fields: Fields) => void;
  /** What an answer means where its status alone does not say so; null where it does. */
  readonly meaning?: (answer: JsonAnswer) => Meaning | null;
}

export interface JsonAnswer extends OutgoingAnswer {
  /** Undefined when the text is none. */
  readonly json: unknown;
}

export interface Meaning {
  readonly type: "failed" | "gone";
  /** Instead of the answer's text. */
  readonly reason?: string;
  /** Instead of `Retry-After`, in seconds. */
  readonly retryAfter?: number;
}
