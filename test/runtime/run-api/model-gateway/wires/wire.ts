import type {
  CallUsage,
  UpstreamModel,
} from "../../../../../src/foundation/contracts/model-gateway.ts";

/** One wire format: a request, what a provider answers to it byte for byte, and what that costs in tokens. */
export interface Wire {
  readonly title: string;
  readonly model: Partial<UpstreamModel>;
  /** Of the base URL. */
  readonly basePath: string;
  readonly path: string;
  readonly plainPath?: string;
  readonly body: object;
  readonly plainBody: object;
  readonly stream: (newline: string) => string;
  readonly plain: object;
  readonly usage: CallUsage;
  readonly serviceTier: string | null;
  /** Tokens of the output by what was seen of it when the stream is cut behind its first text. */
  readonly outputWhenCut: number;
  /** The header that carries the key. */
  readonly key: readonly [string, string];
}

/** In the first piece of each stream. */
export const text = "Zażółć 🚀 gęślą – 日本語";
export const messages = [{ role: "user", content: "hi" }];
