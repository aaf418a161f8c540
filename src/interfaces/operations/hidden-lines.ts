import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { UserError } from "../../foundation/errors.ts";

type Redact = Redactor["redact"];

const mark = "[redacted]";

/**
 * A file's text for people: without known secrets and the addresses of `[heartbeat]`, which are as secret. Its lines stay
 * lines; their ends are those of Unix, as browsers have them.
 */
export function shownText(text: string, redact: Redact): string {
  let table = "";
  const shown = (line: string): string => {
    table = /^\s*\[+\s*["']?([\w-]+)/.exec(line)?.[1] ?? table;
    const isSecret = table === "heartbeat" || /^\s*["']?heartbeat\b/.test(line);
    return redact(isSecret ? line.replace(/https?:\/\/[^\s"']+/g, mark) : line);
  };
  return linesOf(text).map(shown).join("\n");
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

/** What is hidden in a file's text. */
interface Hidden {
  /** The lines that are shown as others, by what is shown; null for one that could be two different ones. */
  readonly lines: ReadonlyMap<string, string | null>;
  /** The lines that are shown as they are. */
  readonly others: ReadonlySet<string>;
  readonly lineEnd: string;
}

export function hiddenLines(text: string, redact: Redact): Hidden {
  const lines = new Map<string, string | null>();
  const others = new Set<string>();
  const shown = linesOf(shownText(text, redact));
  for (const [index, line] of linesOf(text).entries()) {
    const seen = shown[index] ?? "";
    if (seen === line) others.add(line);
    else lines.set(seen, (lines.get(seen) ?? line) === line ? line : null);
  }
  return { lines, others, lineEnd: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** An edited text with what was hidden in it. Throws UserError `refused` for a mark that stands for nothing known. */
export function withHidden(text: string, { lines, others, lineEnd }: Hidden, path: string): string {
  const whole = (line: string, index: number): string => {
    const hidden = lines.get(line);
    if (typeof hidden === "string") return hidden;
    if (lines.size === 0 || !line.includes(mark) || others.has(line)) return line;
    const message = `${path}:${index + 1}  ${mark} stands for a secret; leave the line as it was, or write the secret again`;
    throw new UserError("refused", message);
  };
  return linesOf(text).map(whole).join(lineEnd);
}
