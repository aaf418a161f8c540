import type { Problem } from "../../../streams/vocabulary.ts";
import { resolveAgent } from "../../config/resolve-agent.ts";
import { resolveProject } from "../../config/resolve-project.ts";
import { machineTimezone } from "../../config/timezone.ts";
import { knownToAgents } from "../../known-to-agents.ts";
import { filterTable } from "../../webhooks/providers/table.ts";
import type { PlannedFile } from "./planned-file.ts";
import type { Remark } from "./remark.ts";

type Files = ReadonlyMap<string, PlannedFile>;

/** What the scheduler will find wrong with the new project, where `known` has no edit for the same line yet. */
export function judged(
  dir: string,
  files: Files,
  agents: readonly string[],
  known: readonly Remark[],
): readonly Remark[] {
  const text = textOf(files, "config.toml") ?? "";
  const machine = { machineTimezone: machineTimezone(), machineCores: 1 };
  const project = resolveProject({ dir, text, ...machine }, filterTable);
  const problems =
    project.type === "invalid"
      ? project.problems
      : [...project.warnings, ...agents.flatMap((name) => ofAgent(name, files, project.project))];
  const edits = known.filter(({ kind }) => kind === "edit");
  return problems
    .filter(({ file, line }) => !edits.some((edit) => edit.file === file && edit.line === line))
    .map(remarkOf);
}

function ofAgent(
  name: string,
  files: Files,
  project: Parameters<typeof resolveAgent>[1],
): readonly Problem[] {
  const config = textOf(files, `agents/${name}/config.toml`);
  const skill = textOf(files, `agents/${name}/SKILL.md`);
  const texts = { name, config, skill, dockerfileHash: null, problems: [] };
  const change = resolveAgent(texts, project, knownToAgents());
  if (change.type === "invalid") return change.problems;
  return change.type === "set" ? change.warnings : [];
}

function textOf(files: Files, path: string): string | null {
  return files.get(path)?.content.toString() ?? null;
}

function remarkOf({ file, line, message }: Problem): Remark {
  return { kind: "edit", file, line, message, fix: null };
}
