import { schedulesOf, type AgentConfig } from "../../../streams/agent-config.ts";
import type { Calendars } from "../../../streams/triggers/calendar.ts";
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  listSchemas,
  maxFileBytes,
  readAgent,
  readSchemas,
} from "../../foundation/config/agent-files.ts";
import type { AgentFiles } from "../../foundation/config/agent-files.ts";
import { upcomingRuns } from "../../foundation/config/upcoming-runs.ts";
import { readTextSync } from "../../foundation/config/read-project.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { editableFiles } from "../../foundation/contracts/file-edits.ts";
import type {
  EditableFile,
  EditFileRequest,
  FileEdited,
  ShownFiles,
} from "../../foundation/contracts/file-edits.ts";
import type { UpcomingRun } from "../../foundation/contracts/upcoming-run.ts";
import { Problem, failureOf } from "../../foundation/errors.ts";
import { replaceText } from "../../foundation/files/replace-file.ts";
import { hiddenLines, refuseBaring, shownText, withHidden } from "./hidden-lines.ts";
import { checkAgent, newProblems, refuseProblems } from "./project-files.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";

/** Rejects with Problem `unknown_agent`. */
export async function filesOf(
  name: string,
  { status, projectDir }: SchedulerContext,
): Promise<AgentFiles> {
  const files = knownAgent(status, name).removed ? null : await readAgent(projectDir, name);
  if (files !== null) return files;
  throw new Problem("unknown_agent", `there is no agents/${name}/config.toml`);
}

/** The texts and problems of an agent's files, their secrets redacted. Rejects with Problem `unknown_agent`. */
export async function agentFiles(name: string, context: SchedulerContext): Promise<ShownFiles> {
  const { redact } = context.redactor;
  const project = context.project$.value;
  const files = await filesOf(name, context);
  const { problems } = checkAgent(files, project);
  return {
    isEditable: project.gateway.edit,
    files: editableFiles.map((file) => {
      const path = `agents/${name}/${file}`;
      const text = textOf(files, file);
      const shown = text && shownText(text, file, redact);
      const hash = hashOf(shown ?? "");
      const own = problems
        .filter((problem) => problem.file === path)
        .map((problem) => ({ ...problem, message: redact(problem.message) }));
      return { name: file, path, text: shown, hash, problems: own };
    }),
  };
}

/**
 * Replaces the text of an agent's file. Rejects with Problem `unknown_agent`, `read_only`, `conflict` if the file is not
 * the one that the edit began with, `invalid_config` if the text adds an error, or `refused`.
 */
export async function editFile(
  name: string,
  { file, text, hash, dryRun }: EditFileRequest,
  context: SchedulerContext,
): Promise<FileEdited> {
  const { redact } = context.redactor;
  const files = await filesOf(name, context);
  const before = textOf(files, file) ?? "";
  const path = `agents/${name}/${file}`;
  if (hash !== hashOf(shownText(before, file, redact))) throw changedOnDisk(path);
  const after = withHidden(text, hiddenLines(before, file, redact), path);
  if (file === "config.toml") refuseBaring(before, after, redact);
  return applyEdit({ files, file, after, dryRun }, context);
}

interface Edit {
  /** The files as they are on disk. */
  readonly files: AgentFiles;
  readonly file: EditableFile;
  /** The whole text. */
  readonly after: string;
  readonly dryRun: boolean;
}

/** Checks an edit as the scheduler does when it reads the file, and writes it. Rejects as `editFile` does. */
export async function applyEdit(
  { files, file, after, dryRun }: Edit,
  { project$, projectDir, redactor, log }: SchedulerContext,
): Promise<FileEdited> {
  const agent = files.name;
  const path = `agents/${agent}/${file}`;
  const before = textOf(files, file);
  const project = project$.value;
  if (!project.gateway.edit) throw new Problem("read_only", readOnly);
  if (before === null) throw new Problem("refused", `${path} can't be read`);
  await mustBeOwn(projectDir, agent, file).catch(unwritable(path));
  const size = Buffer.byteLength(after);
  const most = maxFileBytes[file];
  if (size > most) throw new Problem("refused", `${path} may have ${most} bytes, not ${size}`);
  const schemas = await readSchemas(projectDir, agent, await listSchemas(projectDir, agent));
  const judge = (text: string) =>
    checkAgent(
      { ...files, ...(file === "SKILL.md" ? { skill: text } : { config: text, schemas }) },
      project,
    );
  // An invalid text is rejected here, where the caller sees it, and not at the reload.
  refuseProblems(newProblems({ text: before, judge }, after), redactor.redact);
  const { textDifference } = await import("../../foundation/files/text-difference.ts");
  const [old, now] = [before, after].map((text) => shownText(text, file, redactor.redact));
  const change = textDifference([path, path], old ?? "", now ?? "");
  const written = before !== after && !dryRun;
  if (written) {
    // The file may have changed during the checks.
    await mustBeOwn(projectDir, agent, file).catch(unwritable(path));
    const last = readTextSync(join(projectDir, path), projectDir, most);
    if (last.type !== "text" || last.text !== before) throw changedOnDisk(path);
    await replaceText(join(projectDir, path), after).catch(unwritable(path));
    log(30, `${path} was edited on the dashboard or via the API`);
  }
  const next = nextRuns(judge(before).config, judge(after).config, project.calendars);
  return { success: true, agent, file: path, change, written, ...(next && { next }) };
}

/** The next runs by an edited config; null if the edit does not touch the schedules. */
function nextRuns(
  before: AgentConfig | null,
  after: AgentConfig | null,
  calendars: Calendars,
): UpcomingRun[] | null {
  if (after === null) return null;
  const [old, now] = [before && schedulesOf(before), schedulesOf(after)];
  return JSON.stringify(old) === JSON.stringify(now)
    ? null
    : upcomingRuns(after, { calendars, now: Date.now() });
}

export const readOnly =
  "files are not edited over HTTP: [gateway].edit is false in the project's config.toml";

function changedOnDisk(path: string): Problem {
  return new Problem(
    "conflict",
    `${path} has changed on disk since it was read; nothing was written`,
  );
}

/** A link may lead to a file that other agents share, or to the project's own; so may the agent's directory. */
async function mustBeOwn(projectDir: string, agent: string, name: EditableFile): Promise<void> {
  const agents = join(projectDir, "agents");
  const own = join(await realpath(agents), agent);
  const file = await realpath(join(agents, agent, name));
  if (dirname(file) !== own)
    throw new Problem("refused", "it is a link that leads out of the agent's directory");
}

function unwritable(path: string): (error: unknown) => never {
  return (error) => {
    throw failureOf("refused", `${path} can't be written`, error);
  };
}

function textOf({ config, skill }: AgentFiles, file: EditableFile): string | null {
  return file === "SKILL.md" ? skill : config;
}

/** Hash of the text as it is shown: a hash of a secret would confirm a guess. */
function hashOf(shown: string): string {
  return createHash("sha256").update(shown).digest("base64url");
}
