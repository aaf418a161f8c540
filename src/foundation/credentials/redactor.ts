import { shortestHidden } from "../contracts/encoded-forms.ts";
import { mapTexts } from "../contracts/map-texts.ts";
import type { Output, RedactText } from "../contracts/redact-text.ts";
import { withoutTerminalCodes } from "../contracts/plain-text.ts";
import { secretForms } from "./secret-forms.ts";
import { TextIndex } from "./text-index.ts";
import type { Found, Range } from "./text-index.ts";

/** Takes known secrets out of what is written down. */
export interface Redactor {
  /**
   * From now on these values are secrets. They stay so, as what was known once may still turn up; only what is worth
   * nothing any more, such as the token of a run that is over, is forgotten by the function that is returned.
   */
  readonly add: (secrets: Iterable<string>) => () => void;
  /**
   * The text without terminal codes and other control characters (tabs and line ends stay), with `[redacted]` for every
   * secret in any of its forms, also one with characters inside that are not shown, or over several lines. A text is
   * cut only after this; where a long one was cut before, the beginning of a secret at its end is one, too.
   */
  readonly redact: RedactText;
  /** The same for all texts of a JSON-like value, its keys too; the value itself stays as it is. */
  readonly redactValue: (value: unknown) => unknown;
}

const mark = "[redacted]";

/** Characters of a text that may have been cut: readers of processes take 32 KiB of a line, in UTF-8. */
const longText = 8_000;

const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Characters that are not shown, and line ends: tools wrap base64. */
const unseen = /[\u0000-\u0008\n-\u001f\u007f-\u009f\p{Default_Ignorable_Code_Point}]+/gu;

/** A redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  /** How many secrets have a form. */
  const forms = new Map<string, number>();
  const index = new TextIndex();

  const count = (form: string, change: 1 | -1): void => {
    const before = forms.get(form) ?? 0;
    const now = before + change;
    if (now > 0) forms.set(form, now);
    else forms.delete(form);
    if (before === 0) index.add(form);
    else if (now === 0) index.remove(form);
  };

  const search = (lines: string): { readonly shown: string; readonly found: Found } => {
    const quick = index.find(lines, false);
    const shown = quick === null ? seen(lines) : lines;
    return { shown, found: quick ?? index.find(shown, true) };
  };
  const masked = (text: string, output?: Output, isRaw = false): string => {
    const before = output?.begun ?? "";
    // Joined, as a text that `+` makes is read at a quarter of the speed.
    const lines = [before, text.replaceAll("\n", "")].join("");
    const { shown, found } = search(lines);
    if (shown !== lines && !isRaw && control.test(text)) {
      // Once before, too: a terminal code takes the character behind it with it.
      return masked(withoutTerminalCodes(masked(text, undefined, true)), output);
    }
    const { ranges, begun } = found;
    if (text.length > longText && begun < shown.length) ranges.push([begun, shown.length]);
    if (output !== undefined) carry(output, shown, found);
    return ranges.length === 0 ? text : marked(text, before.length, ranges);
  };
  return {
    add: (secrets) => {
      const all = [...secrets].flatMap((secret) => secretForms(secret));
      let added = [...new Set(all.map(seen))].filter(({ length }) => length >= shortestHidden);
      for (const form of added) count(form, 1);
      return () => {
        for (const form of added) count(form, -1);
        added = [];
      };
    },
    redact: (text, output) => masked(text, output),
    redactValue: (value) => mapTexts(value, (text) => masked(text)),
  };
}

/** Hides one half of a secret, and keeps what the next text of the output may go on with. */
function carry(output: Output, shown: string, { ranges, begun, halfBegun }: Found): void {
  const end = shown.length;
  if (halfBegun < end) ranges.push([halfBegun, end]);
  // Fewer characters than a form has are not found, and may be the beginning of one all the same.
  output.begun = shown.slice(Math.max(0, Math.min(begun, end - shortestHidden + 1)));
}

/** The characters of a text that are shown. */
function seen(text: string): string {
  return text.replace(unseen, "");
}

/** The text with a mark for each range of its shown characters, which are counted from `before` characters earlier. */
function marked(text: string, before: number, ranges: readonly Range[]): string {
  const places: number[] = [];
  let at = 0;
  for (const { 0: hidden, index } of text.matchAll(unseen)) {
    while (at < index) places.push(at++);
    at += hidden.length;
  }
  while (at < text.length) places.push(at++);
  let result = "";
  let copied = 0;
  for (const [from, to] of ranges) {
    const start = places[Math.max(0, from - before)] ?? text.length;
    const end = (places[to - before - 1] ?? -1) + 1;
    if (end <= copied) continue;
    // The beginning of one that is cut off may overlap with the one before.
    if (start >= copied) result += text.slice(copied, start) + mark;
    copied = end;
  }
  return result + text.slice(copied);
}
