import { execFile } from "node:child_process";
import { join } from "node:path";
import { gitFolderLimits } from "../../foundation/contracts/git-names.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import { hasCode, messageOf } from "../../foundation/errors.ts";
import { logTo, type Session } from "./harness.ts";
import { receiveFiles } from "./trees/transfer.ts";

/** How long git may take to write the files, in ms. */
const checkoutMs = 10 * 60_000;
const maxOutputBytes = 1024 * 1024;

/** Absolute path of the run's checkout. */
export function workspacePath({ workDir, workspace }: Pick<Job, "workDir" | "workspace">) {
  return workspace === undefined ? null : join(workDir, workspace.dir);
}

/**
 * Receives the repository's objects from the scheduler, and checks its commit out. Rejects with an error for a person: an
 * agent without its files would work on nothing.
 */
export async function checkOut({ job, commandEnv, emit, signal }: Session): Promise<void> {
  const path = workspacePath(job);
  const { channel, workDir: base, workspace } = job;
  if (path === null || workspace === undefined || channel === null) return;
  const began = performance.now();
  const folder = { base, path: join(path, ".git") };
  const limits = gitFolderLimits(workspace.maxBytes);
  const files = await receiveFiles({ runSocket: channel, signal }, "workspace", folder, limits);
  if (files === 0) throw new Error("the scheduler sent no repository");
  const received = performance.now();
  const head = await git(path, ["reset", "--quiet", "--hard"], commandEnv, signal).then(() =>
    git(path, ["log", "-1", "--format=%H %s", "--no-show-signature"], commandEnv, signal),
  );
  const ms = [received - began, performance.now() - received].map(Math.round);
  const took = `received in ${ms[0] ?? 0} ms, checked out in ${ms[1] ?? 0} ms`;
  logTo(emit, "run", 30, `workspace ${workspace.dir}: ${head.trim().slice(0, 120)} (${took})`);
}

function git(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const options = {
    cwd,
    env: { ...env, GIT_TERMINAL_PROMPT: "0", GIT_LFS_SKIP_SMUDGE: "1" },
    signal,
    timeout: checkoutMs,
    maxBuffer: maxOutputBytes,
  };
  return new Promise((resolve, reject) => {
    execFile("git", ["-c", "core.fsmonitor=false", ...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      if (hasCode(error, "ENOENT")) return reject(new Error(noGit));
      reject(new Error(`the checkout failed: ${stderr.trim() || messageOf(error)}`));
    });
  });
}

const noGit =
  "[workspace] needs git where the run is: install it, or add it to the Dockerfile of the agent";
