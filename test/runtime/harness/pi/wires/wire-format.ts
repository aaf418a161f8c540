/** What a model answers in one request, whatever the wire format. */
export type Reply =
  | { readonly kind: "text"; readonly text: string }
  /** A call of bash. */
  | { readonly kind: "tool"; readonly command: string }
  /** An answer with calls stops for them, unless it has an ending. */
  | { readonly kind: "calls"; readonly calls: readonly ToolCall[]; readonly ending?: Ending }
  /** Ends with this word of the provider, after some text or none. */
  | { readonly kind: "ending"; readonly ending: Ending; readonly text: string }
  | { readonly kind: "refusal" };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** Its arguments, as they come. */
  readonly json: string;
}

/** An answer's own count of its tokens, in the words of its API. */
export type Usage = Readonly<Record<string, unknown>>;

export type Ending = "normal" | "cut" | "filter" | "unknown";

/** How one API streams its answers, by the provider's own documentation. */
export interface WireFormat {
  readonly stream: (reply: Reply, usage?: Usage) => string;
  /** An error event inside of a stream that began well. */
  readonly errorEvent: string;
  /** An event that is no JSON. */
  readonly garbage: string;
  /** The beginning of a stream. */
  readonly begin: string;
}

export const data = (...chunks: readonly object[]) =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");

export interface NamedEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Server-sent events whose name is the type in their data. */
export const named = (...events: readonly NamedEvent[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

export const refusalText = "I can't help with that.";

/** The text of an answer; calls come without one. */
export function textOf(reply: Reply): string {
  if (reply.kind === "refusal") return refusalText;
  return "text" in reply ? reply.text : "";
}

export function callsOf(reply: Reply): readonly ToolCall[] {
  if (reply.kind === "calls") return reply.calls;
  if (reply.kind !== "tool") return [];
  return [{ id: "call12345", name: "bash", json: JSON.stringify({ command: reply.command }) }];
}

/** A call's arguments in the pieces in which a stream brings them. */
export const piecesOf = ({ json }: ToolCall): readonly string[] => json.match(/[^]{1,7}/g) ?? [];

/** The API's word for the end of an answer; `calls` is the one for an answer that stops for its calls. */
export function wordFor<T>(reply: Reply, calls: T, words: Readonly<Record<Ending, T>>): T {
  const ending = "ending" in reply ? reply.ending : undefined;
  return ending === undefined && callsOf(reply).length > 0 ? calls : words[ending ?? "normal"];
}
