import { parse } from "smol-toml";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import type { EditableFile } from "../../foundation/contracts/file-edits.ts";
import { Problem } from "../../foundation/errors.ts";

type Redact = Redactor["redact"];

const mark = "[redacted]";
const address = /https?:\/\/[^\s"']+/gi;

/**
 * A file's text for people: without known secrets and, in `config.toml`, the addresses of `[heartbeat]`, which are as
 * secret. Its lines stay lines, but for a secret over several; their ends are those of Unix, as browsers have them.
 */
export function shownText(text: string, file: EditableFile, redact: Redact): string {
  const lines = linesOf(text);
  const known = file === "SKILL.md" ? [] : heartbeatAddresses(text);
  const bare = lines.map((line) => known.reduce((shown, one) => shown.replaceAll(one, mark), line));
  const whole = redact(bare.join("\n"));
  return linesOf(whole).length < lines.length ? whole : bare.map((line) => redact(line)).join("\n");
}

/** The addresses of `[heartbeat]`, longest first: by the lines, also of a text that is not valid, and by the parsed value. */
function heartbeatAddresses(text: string): readonly string[] {
  let table = "";
  const inLines = linesOf(text).flatMap((line) => {
    table = /^\s*\[+\s*["']?([\w-]+)/.exec(line)?.[1] ?? table;
    const isSecret = table === "heartbeat" || /^\s*["']?heartbeat\b/.test(line);
    return isSecret ? (line.match(address) ?? []) : [];
  });
  const parsed = stringsOf(text).flatMap((one) => (isAtPlace(one) ? one[1] : []));
  return [...new Set([...inLines, ...parsed])].sort((a, b) => b.length - a.length);
}

/** A string of a TOML text after its key path as JSON; a key has none. */
type Located = readonly [path: string, text: string];

/** Whether a string is the agent's secret address; one with a space may be a longer one, with lines that were hidden. */
function isAtPlace([path, text]: Located): boolean {
  return path === '["heartbeat","url"]' && /^\S+$/.test(text);
}

/** The strings and keys of a TOML text; none if it is not valid. */
function stringsOf(text: string): readonly Located[] {
  try {
    return stringsIn(parse(text), []);
  } catch {
    return [];
  }
}

function stringsIn(value: unknown, path: readonly string[]): readonly Located[] {
  if (typeof value === "string") return [[JSON.stringify(path), value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [
    ["", key],
    ...stringsIn(part, [...path, key]),
  ]);
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

/** Hidden characters in a file's text. */
export interface Hidden {
  /** The lines of the text, and as they are shown. */
  readonly own: readonly string[];
  readonly shown: readonly string[];
  /** The original of each line that is shown changed, by its shown text; null if two lines are shown alike. */
  readonly lines: ReadonlyMap<string, string | null>;
  /** The lines that are shown unchanged. */
  readonly others: ReadonlySet<string>;
  readonly lineEnd: string;
}

export function hiddenLines(text: string, file: EditableFile, redact: Redact): Hidden {
  const lines = new Map<string, string | null>();
  const others = new Set<string>();
  const own = linesOf(text);
  const shown = linesOf(shownText(text, file, redact));
  for (const [index, line] of own.entries()) {
    const seen = shown[index] ?? "";
    if (seen === line) others.add(line);
    else lines.set(seen, (lines.get(seen) ?? line) === line ? line : null);
  }
  for (const line of others) if (lines.has(line)) lines.set(line, null);
  return { own, shown, lines, others, lineEnd: text.includes("\r\n") ? "\r\n" : "\n" };
}

/**
 * An edited text with what was hidden in it. Throws Problem `refused` for a mark that stands for nothing known, and for a
 * secret over several lines.
 */
export function withHidden(text: string, hidden: Hidden, path: string): string {
  const { own, shown, lines, others, lineEnd } = hidden;
  if (shown.length < own.length)
    throw new Problem(
      "refused",
      `${path} contains a secret that spans several lines; edit the file on disk`,
    );
  const edited = linesOf(text);
  const untouched = untouchedLines(edited, hidden);
  const isWritten = [...others].some((line) => line.includes(mark));
  const whole = (line: string, index: number): string => {
    const secret = lines.get(line);
    if (typeof secret === "string") return secret;
    // Lines that differ in characters that are not seen, such as a form feed.
    if (!line.includes(mark)) return untouched(index) ?? line;
    if (lines.size === 0 ? isWritten : secret === undefined && others.has(line)) return line;
    throw new Problem(
      "refused",
      `${path}:${index + 1}  ${mark} represents a secret; leave the line as it was, or write the secret again`,
    );
  };
  return edited.map(whole).join(lineEnd);
}

/** The own text of a line above or below all changes, by its index in the edited text; undefined between them. */
function untouchedLines(edited: readonly string[], { own, shown }: Hidden) {
  const most = Math.min(edited.length, shown.length);
  let above = 0;
  while (above < most && edited[above] === shown[above]) above += 1;
  let below = 0;
  while (below < most - above && edited.at(-1 - below) === shown.at(-1 - below)) below += 1;
  return (index: number): string | undefined => {
    if (index < above) return own[index];
    return index < edited.length - below ? undefined : own[index - edited.length + own.length];
  };
}

/**
 * Throws Problem `refused` if an address of `[heartbeat]` would be seen after an edit: in the text, or as a value elsewhere,
 * which pages and prompts show.
 */
export function refuseBaring(before: string, after: string, redact: Redact): void {
  const seen = (text: string): string => {
    const values = stringsOf(text).flatMap((one) => (isAtPlace(one) ? [] : one[1]));
    return [shownText(text, "config.toml", redact), ...values].join("\n");
  };
  const [old, now] = [seen(before), seen(after)];
  if (heartbeatAddresses(before).some((one) => now.includes(one) && !old.includes(one)))
    throw new Problem("refused", "an address of [heartbeat] would be shown; edit it on disk");
}
