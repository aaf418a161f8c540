import matter from "gray-matter";
import { z } from "zod";
import { messageOf } from "../errors.ts";
import { formatValue } from "./format-value.ts";
import { isPlainObject } from "../contracts/plain-object.ts";

/** SKILL.md in two. */
export interface Parts {
  /** YAML; empty without front matter. */
  readonly front: string;
  readonly body: string;
}

/** Lines and columns of SKILL.md, from 1. */
export interface Mistake {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const maxFrontMatter = 64 * 1024;

/** Front matter begins with a bare `---` in the first line: anything behind it would name a language to run. */
export function splitSkill(raw: string): Parts | Mistake {
  const text = raw.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  if (!/^---(?!-)/.test(text)) return { front: "", body: text.trim() };
  const [first = ""] = text.split("\n", 1);
  if (first.trimEnd() !== "---") {
    const message = `front matter begins with ${formatValue(first)}; expected a bare "---" before YAML`;
    return { line: 1, column: 1, message };
  }
  // With the end of the first line, so that an empty front matter is found too.
  const rest = text.slice(first.length);
  const end = /\n---[ \t]*(?:\n|$)/.exec(rest);
  if (end === null) {
    return {
      line: 1,
      column: 1,
      message: 'front matter has no end; expected a line "---" after it',
    };
  }
  if (end.index > maxFrontMatter) {
    const message = `front matter is too long; expected at most ${maxFrontMatter} characters`;
    return { line: 1, column: 1, message };
  }
  return { front: rest.slice(1, end.index), body: rest.slice(end.index + end[0].length).trim() };
}

/** YAML only: gray-matter's own engines for other languages run what they read. */
export function parseYaml(
  front: string,
): { readonly values: Readonly<Record<string, unknown>> } | Mistake {
  // A line that only begins with the delimiter ends the front matter for gray-matter, and hides what follows.
  const hidden = `\n${front}`.indexOf("\n---");
  if (hidden >= 0) {
    const line = `\n${front}`.slice(0, hidden + 1).split("\n").length;
    return {
      line,
      column: 1,
      message: 'front matter is ended by a bare "---" only; indent this line',
    };
  }
  try {
    const { data } = matter(`---\n${front}\n---\n`, { language: "yaml", engines }) as {
      data: unknown;
    };
    if (isPlainObject(data)) return { values: data };
    if (data === null || data === undefined) return { values: {} };
    return {
      line: 2,
      column: 1,
      message: `front matter is ${formatValue(data)}; expected "key: value" lines`,
    };
  } catch (error) {
    return yamlMistake(error);
  }
}

const refuse = (): never => {
  throw new Error("only YAML front matter is read");
};
const engines = { javascript: refuse, json: refuse, coffee: refuse };

/** js-yaml's errors carry `reason` and `mark`, whose line 0 is the one of the opening delimiter. */
const yamlErrorSchema = z.object({
  reason: z.string(),
  mark: z.object({ line: z.int(), column: z.int() }),
});

function yamlMistake(error: unknown): Mistake {
  const { data } = yamlErrorSchema.safeParse(error);
  const reason = data?.reason ?? messageOf(error);
  const message = `front matter is not valid YAML: ${reason}`;
  return { line: (data?.mark.line ?? 0) + 1, column: (data?.mark.column ?? 0) + 1, message };
}
