import matter from "gray-matter";
import { z } from "zod";
import { messageOf } from "../errors.ts";
import { formatValue } from "./format-value.ts";
import { isPlainObject } from "../contracts/json-size.ts";
import semver from "semver";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import { fileProblem } from "./validate.ts";

/** SKILL.md: its front matter and the markdown body, which is the agent's system prompt. */
export interface Skill {
  readonly title: string | null;
  readonly description: string | null;
  readonly license: string | null;
  readonly compatibility: string | null;
  readonly instructions: string;
}

export interface ParsedSkill {
  /** Null when there are errors. */
  readonly skill: Skill | null;
  readonly problems: readonly Diagnostic[];
}

/** Parses SKILL.md; `version` is the program's. Unknown front matter belongs to other programs. Never throws. */
export function parseSkill(file: string, text: string, version: string): ParsedSkill {
  const parts = splitSkill(text);
  if ("message" in parts) return refused(file, [parts]);
  const data = parseYaml(parts.front);
  if ("message" in data) return refused(file, [data]);
  const fields = frontMatterSchema.safeParse(data.values);
  if (!fields.success) {
    return refused(
      file,
      fields.error.issues.map((issue) => fieldMistake(issue, data.values, parts)),
    );
  }
  const { name, description, license, compatibility } = fields.data;
  const unfit = compatibilityProblem(compatibility, version);
  const placed = unfit && { file, ...fieldPlace(parts, "compatibility"), ...unfit };
  if (placed?.severity === "error") return { skill: null, problems: [placed] };
  const skill = { title: name, description, license, compatibility, instructions: parts.body };
  const empty: Diagnostic = { ...fileProblem(file, noInstructions), severity: "warning" };
  return { skill, problems: [...(placed ? [placed] : []), ...(parts.body === "" ? [empty] : [])] };
}

const noInstructions = "has no instructions; write below the front matter what the agent is to do";

function refused(file: string, mistakes: readonly Mistake[]): ParsedSkill {
  return {
    skill: null,
    problems: mistakes.map((mistake) => ({ severity: "error", file, ...mistake })),
  };
}

const field = z
  .string({ error: "text" })
  .nullish()
  .transform((value) => value?.trim() || null);
const frontMatterSchema = z.object({
  name: field,
  description: field,
  license: field,
  compatibility: field,
});

function fieldMistake(
  issue: z.core.$ZodIssue,
  values: Readonly<Record<string, unknown>>,
  parts: Parts,
): Mistake {
  const key = String(issue.path[0]);
  const message = `${key} is ${formatValue(values[key])}; expected ${issue.message}, in quotes if need be`;
  return { ...fieldPlace(parts, key), message };
}

function fieldPlace({ front }: Parts, key: string): { line: number; column: number } {
  const index = front
    .split("\n")
    .findIndex((line) => new RegExp(`^["']?${key}["']?\\s*:`).test(line));
  return { line: Math.max(index, 0) + 2, column: 1 };
}

/** Other programs write prose here, so only a range that excludes this version is an error. */
function compatibilityProblem(
  range: string | null,
  version: string,
): Pick<Diagnostic, "severity" | "message"> | null {
  if (range === null) return null;
  if (semver.validRange(range) === null) {
    const message = `compatibility ${formatValue(range)} is not a semver range, e.g. ">=1.2 <2", and is not checked`;
    return { severity: "warning", message };
  }
  if (semver.satisfies(version, range, { includePrerelease: true })) return null;
  const message = `the skill is compatible with ${formatValue(range)}, and this is version ${version}; use another version of one of the two`;
  return { severity: "error", message };
}

/** SKILL.md in two. */
export interface Parts {
  /** YAML; empty without front matter. */
  readonly front: string;
  readonly body: string;
}

/** Line and column in SKILL.md, from 1. */
interface Mistake {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const maxFrontMatter = 64 * 1024;

/** Front matter begins with a bare `---` in the first line: text after it would name a language to run. */
function splitSkill(raw: string): Parts | Mistake {
  const text = raw.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  if (!/^---(?!-)/.test(text)) return { front: "", body: text.trim() };
  const [first = ""] = text.split("\n", 1);
  if (first.trimEnd() !== "---") {
    const message = `front matter begins with ${formatValue(first)}; expected a bare "---" before YAML`;
    return { line: 1, column: 1, message };
  }
  // With the first line's end, so that an empty front matter is found too.
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

/** YAML only: gray-matter's own engines for other languages execute the text. */
function parseYaml(
  front: string,
): { readonly values: Readonly<Record<string, unknown>> } | Mistake {
  // A line that only begins with the delimiter ends the front matter for gray-matter, and hides the rest.
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

/** js-yaml's errors have `reason` and `mark`, whose line 0 is the opening delimiter. */
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
