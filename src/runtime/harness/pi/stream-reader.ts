/** Fields that pi leaves out of what it makes of a stream; only lines with one of them are parsed. */
const marks = ["refusal", '"blockReason"', '"error"', '"function_call"'];

interface Reader {
  read(chunk: Uint8Array): void;
  end(): void;
}

/** Reads refusals, blocked prompts and errors out of a streamed response, while pi reads the same bytes. */
export function streamReader(exchange: Exchange): Reader {
  const decoder = new TextDecoder();
  let rest = "";
  const readLines = (text: string) => {
    const lines = (rest + text).split(/\r\n|\r|\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) readLine(line, exchange);
  };
  return {
    read: (chunk) => readLines(decoder.decode(chunk, { stream: true })),
    end: () => {
      readLines(`${decoder.decode()}\n`);
    },
  };
}

function readLine(line: string, exchange: Exchange): void {
  if (!marks.some((mark) => line.includes(mark))) return;
  const data = parsed(line.replace(/^data:/, ""));
  exchange.refusal += textAt(data, "choices", 0, "delta", "refusal") ?? refusalDelta(data);
  exchange.blocked ??= textAt(data, "promptFeedback", "blockReason");
  exchange.streamError ??= streamError(data);
  readFinalArguments(data, exchange);
}

/** OpenAI's Responses API: each piece comes in an event of its own. */
function refusalDelta(data: unknown): string {
  const isDelta = textAt(data, "type") === "response.refusal.delta";
  return (isDelta ? textAt(data, "delta") : null) ?? "";
}

/** OpenAI's Responses API has the whole arguments of a call at its end, also without any piece before. */
function readFinalArguments(data: unknown, { finalArguments }: Exchange): void {
  if (textAt(data, "type") !== "response.output_item.done") return;
  const [call, json] = [textAt(data, "item", "call_id"), textAt(data, "item", "arguments")];
  if (call !== null && json !== null) finalArguments.set(call, json);
}

/** The most exact detail of an error: a number, a code, a type. */
function streamError(data: unknown): string | null {
  const errors = [at(data, "error"), at(data, "response", "error")];
  const error =
    errors.find((found) => typeof found === "object" && found !== null) ?? ownError(data);
  return textAt(error, "code") ?? textAt(error, "type");
}

function ownError(data: unknown): unknown {
  return textAt(data, "type") === "error" ? { code: at(data, "code") } : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // pi reports it.
    return null;
  }
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (node, key) => (typeof node === "object" && node !== null ? Reflect.get(node, key) : undefined),
    value,
  );
}

/** A text or number at a path, null for anything else and for an empty text. */
function textAt(value: unknown, ...path: readonly (string | number)[]): string | null {
  const found = at(value, ...path);
  if (typeof found === "number") return String(found);
  return typeof found === "string" && found !== "" ? found : null;
}

/** What the harness saw of one request to a model, beside what pi makes of it. */
export interface Exchange {
  /** False when pi failed before it sent anything. */
  isSent: boolean;
  /** The status of the response; null without a response. */
  status: number | null;
  /** From the response's headers, in ms. */
  retryAfterMs: number | null;
  /** The provider's own word on a retry (`x-should-retry`), null without one. */
  shouldRetry: boolean | null;
  /** Whether the scheduler refused the call for its budget. */
  isOverBudget: boolean;
  /** Whether it would pass with more money. */
  lacksMoney: boolean;
  /** For how long nothing came when the request was aborted for it, in ms; null when it was not. */
  silentMs: number | null;
  /** The model's words of refusal, which pi takes for ordinary text or leaves out. */
  refusal: string;
  /** Why the provider did not pass the prompt to the model. */
  blocked: string | null;
  /** The code or type of an error that came inside of the stream. */
  streamError: string | null;
  /** Arguments of tool calls where the API repeats them as a whole, by the id of the call. */
  readonly finalArguments: Map<string, string>;
}

export function newExchange(): Exchange {
  return {
    isSent: false,
    status: null,
    retryAfterMs: null,
    shouldRetry: null,
    isOverBudget: false,
    lacksMoney: false,
    silentMs: null,
    refusal: "",
    blocked: null,
    streamError: null,
    finalArguments: new Map(),
  };
}
