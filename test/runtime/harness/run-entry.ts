import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import type { Job } from "../../../src/foundation/contracts/job.ts";
import { runMessageSchema } from "../../../src/foundation/contracts/run-messages.ts";
import type { LogKind } from "../../../src/foundation/contracts/log-kinds.ts";
import type { RunMessage } from "../../../src/foundation/contracts/run-messages.ts";
import { builtAl, compileCache } from "../../helpers/scheduler.ts";

export interface EndedRun {
  readonly exitCode: number | null;
  /** Every line of standard output, each of which must be a message. */
  readonly messages: readonly RunMessage[];
  readonly stderr: string;
}

export type Log = Extract<RunMessage, { type: "log" }>;
export type End = Extract<RunMessage, { type: "end" }>;

/**
 * Starts the real process of a run, with the job on its standard input, which stays open. `uid` is the user it runs
 * as, null for this one.
 */
export function startRun(job: Job, env: Record<string, string> = {}, uid: number | null = null) {
  const child = spawn(process.execPath, [builtAl, "_run-agent"], {
    cwd: job.workDir,
    ...(uid === null ? {} : { uid, gid: uid }),
    env: {
      PATH: process.env.PATH ?? "",
      HOME: job.workDir,
      TZ: "UTC",
      AL_INSTANCE: job.instanceId,
      ...compileCache,
      ...env,
    },
  });
  child.stdin.write(`${JSON.stringify(job)}\n`);
  return { child, ended: endOf(child) };
}

export async function runOf(job: Job, env: Record<string, string> = {}): Promise<EndedRun> {
  return startRun(job, env).ended;
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<EndedRun> {
  const text = { stdout: "", stderr: "" };
  child.stdin.on("error", () => undefined);
  child.stdout.on("data", (chunk: Buffer) => (text.stdout += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (text.stderr += chunk.toString("utf8")));
  const [exitCode] = (await once(child, "close")) as [number | null];
  const lines = text.stdout.split("\n").filter((line) => line !== "");
  const messages = lines.map((line) => runMessageSchema.parse(JSON.parse(line)));
  return { exitCode, messages, stderr: text.stderr };
}

export function logsOf({ messages }: EndedRun, kind: LogKind): readonly Log[] {
  return messages.filter(
    (message): message is Log => message.type === "log" && message.kind === kind,
  );
}

/** The `end` message, which must be the last. */
export function endMessageOf({ messages, stderr }: EndedRun): End {
  const last = messages.at(-1);
  if (last?.type !== "end") throw new Error(`the run ended without an end message: ${stderr}`);
  return last;
}
