import { isPlainObject, jsonOf } from "../../../foundation/contracts/json-size.ts";
import { withoutAddress } from "../../../foundation/contracts/outgoing-request.ts";
import type {
  OutgoingAnswer,
  SendRequest,
} from "../../../foundation/contracts/outgoing-request.ts";
import { retryAfterMs } from "../http-target.ts";
import { cut, oneLine, type Fields } from "../target.ts";

/** A press of a button in a chat. */
export interface Press {
  readonly via: "slack" | "telegram";
  readonly userId: string;
  readonly userName: string;
  /** The button's own data. */
  readonly data: string;
}

/** The reply that the person sees; `isAnswered` if the press was the answer. */
export interface PressResult {
  readonly isAnswered: boolean;
  readonly text: string;
}

/** The dependencies of a receiver of presses. */
export interface ReceiverDeps {
  readonly fields: Fields;
  readonly sendRequest: SendRequest;
  readonly proxyEnv: NodeJS.ProcessEnv;
  readonly press: (press: Press) => Promise<PressResult>;
  /** The chat sends presses. */
  readonly onReady: () => void;
  readonly warn: (message: string) => void;
  /** Ends the receiver. */
  readonly signal: AbortSignal;
}

/** Receives presses until the connection is to be renewed. Rejects if it fails. */
export type Receiver = (deps: ReceiverDeps) => Promise<void>;

/** A request that a chat refused; without the address, which has a token. */
export class ChatError extends Error {
  /** How long the chat wants to be left alone, in ms. */
  readonly afterMs: number;
  constructor(message: string, afterMs: number) {
    super(message);
    this.afterMs = afterMs;
  }
}

interface ChatCall {
  readonly url: URL;
  readonly headers?: Fields;
  readonly body: object;
  readonly signal?: AbortSignal;
}

/** Calls a method of Slack or Telegram, whose answers have `ok`. Rejects with ChatError if it is not true. */
export async function callChat(
  sendRequest: SendRequest,
  { url, headers, body, signal }: ChatCall,
): Promise<Readonly<Record<string, unknown>>> {
  const text = JSON.stringify(body);
  const answer = await sendRequest({
    method: "POST",
    url,
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text)),
      ...headers,
    },
    body: text,
    signal,
  });
  const json = jsonOf(answer.text);
  if (isPlainObject(json) && json.ok === true) return json;
  throw refusal(answer, isPlainObject(json) ? json : {}, url);
}

/** https://docs.slack.dev/apis/web-api/rate-limits, https://core.telegram.org/bots/api#responseparameters */
function refusal(
  { status, headers }: OutgoingAnswer,
  { error, needed, description, parameters }: Readonly<Record<string, unknown>>,
  url: URL,
): ChatError {
  const scope = typeof needed === "string" ? `; it needs the scope ${needed}` : "";
  const reason = typeof error === "string" ? `${error}${scope}` : description;
  const text = typeof reason === "string" ? reason : `it answered ${status}`;
  const seconds = isPlainObject(parameters) ? parameters.retry_after : undefined;
  const afterMs =
    typeof seconds === "number" ? seconds * 1000 : retryAfterMs(headers["retry-after"], Date.now());
  return new ChatError(cut(oneLine(withoutAddress(text, url)), 300), afterMs ?? 0);
}
