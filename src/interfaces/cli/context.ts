import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { UserError } from "../../foundation/errors.ts";
import { findProject } from "./find-project.ts";
import { openOutput } from "./terminal/output.ts";
import type { Output } from "./terminal/output.ts";

/** What every command works with. */
export interface Context {
  /** Absolute path of the project's directory. */
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly out: Output;
}

/** What commands work with that need no project. */
export type GlobalContext = Omit<Context, "projectDir">;

/** Reads the options that every command has, for one that needs no project. */
export function globalContextOf(command: Command): GlobalContext {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  return { env: process.env, out: openOutput(json === true, process.env) };
}

/** The directory that `--project` names; without it the project around the working directory, or that itself. */
export function projectDirOf(command: Command): string {
  const { project } = command.optsWithGlobals<{ project?: string }>();
  return project === undefined ? findProject(process.cwd()) : resolve(project);
}

/** Reads the options that every command has. Throws UserError when the project's directory is none. */
export function contextOf(command: Command): Context {
  const projectDir = projectDirOf(command);
  if (!statSync(projectDir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UserError("no_project", `${projectDir} is not a directory`, {
      hint: "name the project's directory with -p",
      exitCode: 2,
    });
  }
  return { projectDir, ...globalContextOf(command) };
}
