import { inTurn } from "../contracts/in-turn.ts";
import type { TextPart } from "../credentials/text-index.ts";

/** Splits a text at its secrets: `redactor.split`. */
export type Hide = (text: string) => readonly TextPart[];

/** Binary contents have a NUL among their first bytes. */
const headBytes = 8 * 1024;
/** How much of a text is searched at a time, in characters. */
const windowLength = 64 * 1024;
/** A secret that begins so close to the end of a window is searched for again with the next one, in characters. */
const overlap = 16 * 1024;
/** A window that would be one secret as a whole, in characters, is hidden. */
const maxHeld = 1024 * 1024;

/**
 * Reads a content in pieces as text, split at its secrets: those that lie across pieces are found, too. `add` and `end`
 * resolve to the next parts; to none for a binary content, which is not searched, and without `hide`.
 */
export function createTextReader(hide: Hide | null) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const search = hide === null ? null : createSearch(hide);
  let isText = true;
  let seen = 0;
  const decoded = (chunk: Buffer | undefined): string => {
    const head = chunk?.subarray(0, Math.max(0, headBytes - seen));
    seen += chunk?.length ?? 0;
    if (head?.includes(0) === true) isText = false;
    if (!isText) return "";
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      isText = false;
      return "";
    }
  };
  const read = async (chunk?: Buffer): Promise<readonly TextPart[]> => {
    const text = decoded(chunk);
    if (!isText || search === null) return [];
    return search(text, chunk === undefined);
  };
  return {
    add: (chunk: Buffer): Promise<readonly TextPart[]> => read(chunk),
    end: (): Promise<readonly TextPart[]> => read(),
    /** Whether everything so far is a text: no NUL in the first 8 KiB, and valid UTF-8. */
    isText: (): boolean => isText,
  };
}

/** The text of `content` with `[redacted]` in place of each secret; the content must be a text. */
export async function* hiddenText(
  content: AsyncIterable<Buffer>,
  hide: Hide,
): AsyncGenerator<Buffer> {
  const reader = createTextReader(hide);
  const bytesOf = (parts: readonly TextPart[]): Buffer =>
    Buffer.from(parts.map((part) => (part.isSecret ? "[redacted]" : part.text)).join(""));
  for await (const chunk of content) yield bytesOf(await reader.add(chunk));
  yield bytesOf(await reader.end());
}

/** The parts of a text that comes in pieces. The end of each piece is held back until the next one. */
function createSearch(hide: Hide) {
  let held = "";
  /** The parts before the place from which a secret may go on; the others are held. */
  const settled = (parts: readonly TextPart[]): readonly TextPart[] => {
    const cut = held.length - overlap;
    const done: TextPart[] = [];
    let at = 0;
    for (const part of parts) {
      const end = at + part.text.length;
      if (end > cut && part.isSecret && at + maxHeld > held.length) break;
      const fitting = part.isSecret ? part.text : part.text.slice(0, Math.max(0, cut - at));
      if (fitting !== "") done.push({ ...part, text: fitting });
      at += fitting.length;
      if (fitting.length < part.text.length) break;
    }
    held = held.slice(at);
    return done;
  };
  return async (text: string, isLast: boolean): Promise<readonly TextPart[]> => {
    held += text;
    if (!isLast && held.length < windowLength + overlap) return [];
    // A blank at the end: half of a secret at the end of a text would be hidden, as if the text were cut.
    const parts = await inTurn("files", () => hide(isLast ? `${held} ` : held));
    if (!isLast) return settled(parts);
    held = "";
    return withoutLast(parts);
  };
}

function withoutLast(parts: readonly TextPart[]): readonly TextPart[] {
  const last = parts.at(-1);
  if (last === undefined) return parts;
  return [...parts.slice(0, -1), { ...last, text: last.text.slice(0, -1) }];
}
