/** What a model answers in one request, whatever the wire format. */
export type Reply =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tool"; readonly command: string }
  /** Ends with this word of the provider, after some text or none. */
  | { readonly kind: "ending"; readonly ending: Ending; readonly text: string }
  | { readonly kind: "refusal" };

/** What an answer has about its tokens, in the words of its API. */
export interface Billed {
  readonly usage: Readonly<Record<string, unknown>>;
  /** The service tier that served it, where the API names one. */
  readonly tier?: string;
}

export type Ending = "normal" | "cut" | "filter" | "unknown";

/** How one API streams its answers, by the provider's own documentation. */
export interface WireFormat {
  readonly stream: (reply: Reply, billed?: Billed) => string;
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

export function textOf(reply: Reply): string {
  if (reply.kind === "refusal") return refusalText;
  return reply.kind === "tool" ? "" : reply.text;
}

export const endingOf = (reply: Reply): Ending =>
  reply.kind === "ending" ? reply.ending : "normal";
