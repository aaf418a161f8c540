import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import type { Job } from "../../../src/foundation/contracts/job.ts";
import { jobRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { runJob } from "../../../src/runtime/harness/run-job.ts";
import { runMessageSchema, type RunMessage } from "../../../src/runtime/wire/run-messages.ts";
import type { LogKind } from "../../../src/foundation/contracts/log-kinds.ts";
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
      TMPDIR: job.workDir,
      TZ: "UTC",
      AL_INSTANCE: job.instanceId,
      ...compileCache,
      ...env,
    },
  });
  child.stdin.write(`${JSON.stringify(job)}\n`);
  return { child, ended: endOf(child) };
}

const al = [process.execPath, builtAl, "_agent"];

/** Runs a job, or any input, in this process to its end; the input stays open unless `ends`. */
export async function runOf(
  job: Job | string,
  env: Record<string, string> = {},
  ends = false,
): Promise<EndedRun> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.write(typeof job === "string" ? job : `${JSON.stringify(job)}\n`);
  if (ends) input.end();
  const stdout = text(output);
  const home = typeof job === "string" ? {} : { HOME: job.workDir };
  const exitCode = await runJob({
    input,
    output,
    agentProgram: al,
    redactorFor: jobRedactor,
    env: { PATH: process.env.PATH ?? "", TZ: "UTC", ...home, ...env },
    signal: new AbortController().signal,
  });
  output.end();
  return { exitCode, messages: messagesIn(await stdout), stderr: "" };
}

function messagesIn(text: string): readonly RunMessage[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => runMessageSchema.parse(JSON.parse(line)));
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<EndedRun> {
  child.stdin.on("error", () => undefined);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, messages: messagesIn(stdout), stderr };
}

export function logsOf({ messages }: Pick<EndedRun, "messages">, kind: LogKind): readonly Log[] {
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
