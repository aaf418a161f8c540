import { statSync, existsSync } from "node:fs";
import { resolve, basename, dirname, join } from "node:path";
import type { Command } from "commander";
import { Problem } from "../../foundation/errors.ts";
import { openOutput, type Output } from "./terminal/output.ts";

/** The context of a command. */
export interface Context {
  /** Absolute path of the project's directory. */
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly out: Output;
}

/** The context of a command that needs no project. */
export type GlobalContext = Omit<Context, "projectDir">;

/** The options that every command has, for one that needs no project. */
export function globalContextOf(command: Command): GlobalContext {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  return { env: process.env, out: openOutput(json === true, process.env) };
}

/** The directory of `--project`; by default the project around the working directory, or that itself. */
export function projectDirOf(command: Command): string {
  const { project } = command.optsWithGlobals<{ project?: string }>();
  return project === undefined ? findProject(process.cwd()) : resolve(project);
}

/** Reads the options that every command has. Throws Problem if the project's directory does not exist. */
export function contextOf(command: Command): Context {
  const projectDir = projectDirOf(command);
  if (!statSync(projectDir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Problem("no_project", `${projectDir} is not a directory`, {
      hint: "Name the project's directory with `-p <dir>`.",
      exitCode: 2,
    });
  }
  return { projectDir, ...globalContextOf(command) };
}

/**
 * The project of a directory: itself, or the nearest one above it, as with git; itself without one above. A directory
 * above only counts with `config.toml` and `agents/`: many programs have a file of that name.
 */
export function findProject(from: string): string {
  const looksLikeOne = has(from, "config.toml") || has(from, "agents");
  if (looksLikeOne && !isInAgents(from)) return from;
  for (let dir = from; ; dir = dirname(dir)) {
    if (has(dir, "config.toml") && has(dir, "agents") && !isAgent(dir)) return dir;
    if (dir === dirname(dir)) return from;
  }
}

/** An agent has a `config.toml`, too. */
function isInAgents(dir: string): boolean {
  return basename(dirname(dir)) === "agents";
}

/** A project may stand in a directory that is called `agents`; it has no SKILL.md, which agents need. */
function isAgent(dir: string): boolean {
  return isInAgents(dir) && has(dir, "SKILL.md");
}

function has(dir: string, name: string): boolean {
  return existsSync(join(dir, name));
}
