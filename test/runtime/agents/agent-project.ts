import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadProject } from "../../../src/foundation/config/resolve-project.ts";
import { filterTable } from "../../../src/features/webhooks/providers/table.ts";
import { createFileEdits } from "../../../src/runtime/agents/file-edits.ts";
import { anAgent } from "../../helpers/agents.ts";
import { schedulerContext } from "../../helpers/scheduler-context.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const project = '[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n';

interface ProjectFiles {
  /** `agents/dev/config.toml`. */
  readonly dev: string;
  readonly skill?: string;
  /** Added to the project's `config.toml`. */
  readonly project?: string;
}

/** The context of a project on disk with an agent dev, and its file operations. */
export async function agentProject(files: ProjectFiles) {
  const projectDir = tempDir();
  const pathOf = (file: string): string => join(projectDir, file);
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(pathOf(file)), { recursive: true });
    writeFileSync(pathOf(file), text);
  };
  write("config.toml", project + (files.project ?? ""));
  write("agents/dev/config.toml", files.dev);
  write("agents/dev/SKILL.md", files.skill ?? "Do it.\n");
  const loaded = await loadProject(projectDir, filterTable);
  const context = schedulerContext({
    projectDir,
    project: loaded.project,
    credential: (type) => Promise.resolve({ type, instance: "default", fields: {} }),
  });
  const config = anAgent("dev", { credentials: ["github_token"] });
  context.status.apply({
    type: "agent-set",
    agent: "dev",
    at: 0,
    config,
    warnings: [],
    summary: "",
  });
  const read = (file: string): string => readFileSync(pathOf(file), "utf8");
  return { context, edits: createFileEdits(context), pathOf, read, write };
}
