import { createHmac } from "node:crypto";
import { hidden } from "../../features/skills/hidden-characters.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";

/** A request as a person is shown it. */
export interface Picture {
  readonly prompt: string;
  /** Keyed hash of the exact request: equal for equal requests, and of no use to guess a secret without the key. */
  readonly requestHash: string;
}

/** A request that a gate holds, in the exact words and values that are sent. */
export interface ExactRequest {
  readonly text: string;
  /** The parts in which a tool differs from the one that was last allowed; null if it does not. */
  readonly changes?: readonly string[] | null;
}

/** How much of a request, and of all of a tool's changes, a person is shown, in characters. */
const shownLength = 1_800;

/** Characters that people can't see or tell from a space, and beginnings of an escape and of a mark for a secret. */
const special = new RegExp(
  `(?![\\n\\t])${hidden.source}|\\p{Cs}|(?! )\\p{Zs}|\\\\(?=u\\{)|\\[(?=redacted)`,
  "gu",
);

/**
 * Pictures of requests; no two requests have the same one. Characters are escaped and secrets numbered where they stand, so that
 * nothing of a text is dropped. A picture that does not show all ends with a fingerprint.
 */
export function createPictures(split: Redactor["split"], key: string) {
  return ({ text, changes = null }: ExactRequest): Picture => {
    const numbers = new Map<string, number>();
    const shown = (exact: string): string =>
      split(exact)
        .map((part) => (part.isSecret ? numbered(numbers, part.text) : escaped(part.text)))
        .join("");
    const requestHash = createHmac("sha256", key)
      .update(JSON.stringify(["approval", text, changes]))
      .digest("hex");
    const whole = [text, ...(changes ?? [])].map(shown);
    const [asked = "", ...changed] = whole.map((part, at) =>
      cut(part, at === 0 ? shownLength : shownLength / (whole.length - 1)),
    );
    const isWhole = numbers.size === 0 && [asked, ...changed].join() === whole.join();
    const lines = [
      asked,
      ...(changes === null ? [] : [changedText, ...changed]),
      ...(isWhole ? [] : [`Not all of it is shown. Fingerprint: ${requestHash.slice(0, 16)}`]),
    ];
    return { prompt: lines.join("\n\n"), requestHash };
  };
}

const changedText = "Its server changed the tool since it was last allowed.";

function escaped(text: string): string {
  return text.replace(special, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

/** The mark of a secret: the same for the same characters. */
function numbered(numbers: Map<string, number>, secret: string): string {
  const number = numbers.get(secret) ?? numbers.size + 1;
  numbers.set(secret, number);
  return `[redacted ${number}]`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters)`;
}
