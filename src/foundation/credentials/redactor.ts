import { bridgeKey } from "../contracts/model-gateway.ts";
import type { Job, JobNetwork } from "../contracts/job.ts";
import { secretsOf } from "./credential-types.ts";
import { apiTokenPattern, apiTokenPrefix } from "../contracts/scopes.ts";
import { shortestHidden } from "./encoded-forms.ts";
import { mapTexts } from "../contracts/json-size.ts";
import { encodedIn, withoutEncoded } from "./decoded-views.ts";
import { terminalCodes, withoutTerminalCodes } from "../contracts/plain-text.ts";
import { marked, secretForms, splitAt, TextIndex } from "./text-index.ts";
import type { Found, Range, TextPart } from "./text-index.ts";

/** Length at which a text may have been cut: readers of processes take 32 KiB of a line, in UTF-8. */
const longText = 8_000;

const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Invisible characters and line ends: tools wrap base64. */
const unseen = /[\u0000-\u0008\n-\u001f\u007f-\u009f\p{Default_Ignorable_Code_Point}]/gu;
const unseenOrCode = new RegExp(`${terminalCodes.source}|${unseen.source}`, "gu");

/** A redactor that knows no secret yet. */
export function createRedactor() {
  /** How many secrets share a form. */
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
    // Parts are joined, as a text built by `+` is read at a quarter of the speed.
    const lines = [before, text.replaceAll("\n", "")].join("");
    const { shown, found } = search(lines);
    if (shown !== lines && !isRaw && control.test(text)) {
      // Secrets are masked before as well: removing a terminal code also removes the character after it.
      return masked(withoutTerminalCodes(masked(text, undefined, true)), output);
    }
    addEnds(found, shown, text.length);
    if (output !== undefined) carry(output, shown, found);
    const { ranges } = found;
    return ranges.length === 0 ? text : marked(text, placed(text, unseen, ranges, before.length));
  };
  /** Ranges of secrets among the characters of a text that are not `hidden`, as places in the text. */
  const secretsIn = (text: string, hidden: RegExp): Range[] => {
    const shown = text.replace(hidden, "");
    const found = index.find(shown, true);
    addEnds(found, shown, text.length);
    return placed(text, hidden, found.ranges);
  };
  const redact = (text: string, output?: Output): string =>
    withoutEncoded(masked(text, output), index);
  return {
    /**
     * Adds secrets. They stay, as they may still turn up; the returned function forgets those that have become
     * worthless, such as the token of an ended run.
     */
    add: (secrets: Iterable<string>): (() => void) => {
      // Most forms of a secret are the same.
      const all = new Set([...secrets].flatMap((secret) => secretForms(secret)));
      let added = [...new Set(Array.from(all, seen))].filter(
        ({ length }) => length >= shortestHidden,
      );
      for (const form of added) count(form, 1);
      return () => {
        for (const form of added) count(form, -1);
        added = [];
      };
    },
    /**
     * The text without terminal codes and other control characters (tabs and line ends stay), with `[redacted]` for
     * every API token, and for every secret in any form, even with invisible characters inside or over several lines. Cut a text only after this;
     * if a long one was cut before, the beginning of a secret at its end counts as well.
     */
    redact,
    /** The parts of a text, in their order; nothing is removed, and the secrets are parts of their own. */
    split: (text: string): readonly TextPart[] => {
      // Most texts have no secret: this search takes a tenth of the time of those below.
      if (redact(text) === text) return [{ text, isSecret: false }];
      const hidden = [unseen, unseenOrCode].flatMap((codes) => secretsIn(text, codes));
      return splitAt(text, [...hidden, ...encodedIn(text, index)]);
    },
    /** Removes secrets from all texts of a JSON-like value, including its keys; the value itself is unchanged. */
    redactValue: <T>(value: T) => mapTexts(value, (text) => redact(text)) as Redacted<T>,
  };
}

export type Redactor = ReturnType<typeof createRedactor>;

declare const isRedacted: unique symbol;
/** JSON-like data of a run or a person, without known secrets. Only `redactValue` makes it: stores and logs take nothing else. */
export type Redacted<T> = T extends null | undefined
  ? T
  : unknown extends T
    ? T
    : T & { readonly [isRedacted]: true };

/** Adds the beginning of a secret at the end of a long text, and API tokens by their form: only their hashes are stored. */
function addEnds({ ranges, begun }: Found, shown: string, length: number): void {
  if (length > longText && begun < shown.length) ranges.push([begun, shown.length]);
  if (!shown.includes(apiTokenPrefix)) return;
  for (const { 0: token, index } of shown.matchAll(apiTokenPattern)) {
    ranges.push([index, index + token.length]);
  }
}

/** Hides half of a secret at the end of a text, and remembers it for the next text of the output. */
function carry(output: Output, shown: string, { ranges, begun, halfBegun }: Found): void {
  const end = shown.length;
  if (halfBegun < end) ranges.push([halfBegun, end]);
  // Fewer characters than the shortest form are not found, but may begin one.
  output.begun = shown.slice(Math.max(0, Math.min(begun, end - shortestHidden + 1)));
}

/** The characters of a text that are shown. */
function seen(text: string): string {
  return text.replace(unseen, "");
}

/** Ranges of the characters of a text that are not `hidden`, counted from `before` characters earlier, as places in it. */
function placed(text: string, hidden: RegExp, ranges: readonly Range[], before = 0): Range[] {
  const places: number[] = [];
  let at = 0;
  for (const { 0: skipped, index } of text.matchAll(hidden)) {
    while (at < index) places.push(at++);
    at += skipped.length;
  }
  while (at < text.length) places.push(at++);
  return ranges
    .filter(([, to]) => to > before)
    .map(([from, to]) => [
      places[Math.max(0, from - before)] ?? text.length,
      (places[to - before - 1] ?? text.length - 1) + 1,
    ]);
}

/** Consecutive texts, such as the lines of a run: a secret may continue from one to the next. */
interface Output {
  /** The possible beginning of a secret at the end of the texts before. */
  begun: string;
}

/** Removes known secrets and control characters from a text. At the end of an output's text, half of a secret counts too. */
export type RedactText = (text: string, output?: Output) => string;

/**
 * Removes the secrets of a job, including its token, from a JSON-like value. The run itself uses it, so that its text is
 * clean wherever it is stored.
 */
export function jobRedactor(job: Job): (value: unknown) => unknown {
  const redactor = createRedactor();
  redactor.add(job.credentials.flatMap(secretsOf));
  redactor.add(proxySecrets(job.network));
  if (job.channel !== null) redactor.add([job.channel.token, bridgeKey(job.channel.token)]);
  return redactor.redactValue;
}

/** The passwords of proxies, as written in an address and as sent. */
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
