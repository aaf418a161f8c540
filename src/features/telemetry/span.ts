import type { RemoteSpan } from "../../../streams/vocabulary.ts";

type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** A span that has ended. Ids are hexadecimal; times are epoch ms. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the first span of its trace. */
  readonly parentId: string | null;
  readonly name: string;
  /** `consumer` receives work, `client` waits for another program. */
  readonly kind: "consumer" | "client" | "internal";
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly links: readonly RemoteSpan[];
  /** Why its work failed, for a person; null if it did not fail. */
  readonly error: string | null;
}

/** Longest name, id or reason, in characters. */
const longestText = 300;
/** Longest content, in characters. */
export const longestContent = 16_000;

/** Attributes without the ones that are null or undefined; texts are cut. */
export function attributes(
  given: Readonly<Record<string, AttributeValue | null | undefined>>,
  longest = longestText,
): Attributes {
  const found: Record<string, AttributeValue> = {};
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue;
    found[key] = typeof value === "string" ? value.slice(0, longest) : value;
  }
  return found;
}
