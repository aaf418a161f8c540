import semver from "semver";
import { z } from "zod";
import type { Problem } from "../../../streams/vocabulary.ts";
import { parseYaml, splitSkill } from "./front-matter.ts";
import type { Mistake, Parts } from "./front-matter.ts";
import { fileProblem } from "./diagnostics.ts";
import { formatValue } from "./format-value.ts";

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
  readonly problems: readonly Problem[];
}

/** Parses SKILL.md; `version` is the program's. Unknown front matter is for other programs. Never throws. */
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
  const empty: Problem = { ...fileProblem(file, noInstructions), severity: "warning" };
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

/** Other programs write prose here, so that only a range that excludes this version is an error. */
function compatibilityProblem(
  range: string | null,
  version: string,
): Pick<Problem, "severity" | "message"> | null {
  if (range === null) return null;
  if (semver.validRange(range) === null) {
    const message = `compatibility ${formatValue(range)} is not a semver range, e.g. ">=1.2 <2", and is not checked`;
    return { severity: "warning", message };
  }
  if (semver.satisfies(version, range, { includePrerelease: true })) return null;
  const message = `the skill is compatible with ${formatValue(range)}, and this is version ${version}; get another version of one of them`;
  return { severity: "error", message };
}
