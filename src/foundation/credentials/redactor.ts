import { bridgeKey } from "../contracts/model-gateway.ts";
import type { Job, JobNetwork } from "../contracts/job.ts";
import { secretsOf } from "./credential-types.ts";
import { shortestHidden } from "../contracts/encoded-forms.ts";
import { mapTexts } from "../contracts/json-size.ts";
import { withoutTerminalCodes } from "../contracts/plain-text.ts";
import { secretForms, TextIndex } from "./text-index.ts";
import type { Found, Range } from "./text-index.ts";

const mark = "[redacted]";

/** Characters of a text that may have been cut: readers of processes take 32 KiB of a line, in UTF-8. */
const longText = 8_000;

const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Characters that are not shown, and line ends: tools wrap base64. */
const unseen = /[\u0000-\u0008\n-\u001f\u007f-\u009f\p{Default_Ignorable_Code_Point}]+/gu;

/** A redactor that knows no secret yet. */
export function createRedactor() {
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
    /**
     * From now on these values are secrets. They stay so, as they may still turn up; only a secret that is worth
     * nothing any more, such as the token of a run that is over, is forgotten by the function that is returned.
     */
    add: (secrets: Iterable<string>): (() => void) => {
      const all = [...secrets].flatMap((secret) => secretForms(secret));
      let added = [...new Set(all.map(seen))].filter(({ length }) => length >= shortestHidden);
      for (const form of added) count(form, 1);
      return () => {
        for (const form of added) count(form, -1);
        added = [];
      };
    },
    /**
     * The text without terminal codes and other control characters (tabs and line ends stay), with `[redacted]` for every
     * secret in any of its forms, also one with characters inside that are not shown, or over several lines. A text is
     * cut only after this; where a long one was cut before, the beginning of a secret at its end is one, too.
     */
    redact: (text: string, output?: Output): string => masked(text, output),
    /** The same for all texts of a JSON-like value, its keys too; the value itself stays as it is. */
    redactValue: (value: unknown): unknown => mapTexts(value, (text) => masked(text)),
  };
}

export type Redactor = ReturnType<typeof createRedactor>;

/** Hides half of a secret at the end of a text, and remembers it for the next text of the output. */
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

/** Texts that follow each other, such as the lines of a run: a secret may go on from one to the next. */
interface Output {
  /** The possible beginning of a secret at the end of the texts before. */
  begun: string;
}

/** Takes known secrets and control characters out of a text. Half of a secret or more at the end of an output's text is one. */
export type RedactText = (text: string, output?: Output) => string;

/**
 * Removes the secrets of a job, its token included, from a JSON-like value. The run itself uses it, so that text that
 * it writes is clean wherever it is kept on its way.
 */
export function jobRedactor(job: Job): (value: unknown) => unknown {
  const redactor = createRedactor();
  redactor.add(job.credentials.flatMap(secretsOf));
  redactor.add(proxySecrets(job.network));
  if (job.channel !== null) redactor.add([job.channel.token, bridgeKey(job.channel.token)]);
  return redactor.redactValue;
}

/** The passwords of proxies, as they are written in an address and as they are sent. */
export function proxySecrets(network: JobNetwork | undefined): string[] {
  return Object.values(network?.variables ?? {}).flatMap((address) => {
    const password = URL.parse(address)?.password ?? "";
    return password === "" ? [] : [password, decoded(password)];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone % stands for itself.
    return text;
  }
}
