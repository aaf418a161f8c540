import { resolveAgent } from "../../config/resolve-agent.ts";
import { resolveProject } from "../../config/resolve-project.ts";
import { machineTimezone } from "../../config/timezone.ts";
import { knownToAgents } from "../../known-to-agents.ts";
import { filterTable } from "../../webhooks/providers/table.ts";
import type { ProjectFile } from "./read-source.ts";
import type { Remark } from "./remarks.ts";

/** What the scheduler will find wrong with the new project, except in lines that already have an edit. */
export function findProblems(
  dir: string,
  files: ReadonlyMap<string, ProjectFile>,
  agents: readonly string[],
  remarks: readonly Remark[],
): readonly Remark[] {
  const textOf = (path: string) => files.get(path)?.content.toString() ?? null;
  const machine = { machineTimezone: machineTimezone(), machineCores: 1 };
  const text = textOf("config.toml") ?? "";
  const resolved = resolveProject({ dir, text, ...machine }, filterTable);
  const problems =
    resolved.type === "invalid"
      ? resolved.problems
      : agents.flatMap((name) => {
          const config = textOf(`agents/${name}/config.toml`);
          const skill = textOf(`agents/${name}/SKILL.md`);
          const agent = { name, config, skill, dockerfileHash: null, problems: [] };
          const change = resolveAgent(agent, resolved.project, knownToAgents());
          if (change.type === "removed") return [];
          return change.type === "invalid" ? change.problems : change.warnings;
        });
  const warnings = resolved.type === "invalid" ? [] : resolved.warnings;
  const edits = remarks.filter(({ fix }) => fix !== null);
  return [...warnings, ...problems]
    .filter(({ file, line }) => !edits.some((edit) => edit.file === file && edit.line === line))
    .map(({ file, line, message }) => {
      return { file, line, message, fix: "correct it; al doctor checks it again" };
    });
}
