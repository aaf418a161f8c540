import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Duplex } from "node:stream";
import { messageOf } from "../../../foundation/errors.ts";
import { signalGroup } from "../../wire/marked-processes.ts";
import type { Program } from "../../wire/supervisor-order.ts";

/** A first process in its namespaces, whose program has not begun. */
export interface Confined {
  readonly child: ChildProcess;
  /** Starts the program. */
  readonly begin: () => void;
  /** Ends the process without its program. */
  readonly leave: () => void;
}

/** Why a process does not start in its namespaces. */
export interface Failure {
  readonly why: string;
  /** Whether a later start may succeed: the machine lacked a resource at that moment, or took too long. */
  readonly isPassing: boolean;
}

interface StartOptions {
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Long enough for a machine under load, in ms. */
const timeoutMs = 5000;

/**
 * Starts a program wrapped by `isolate`, in a separate session; resolves once the namespaces exist, which the process
 * reports on descriptor 3. A trial beforehand would take as long as the start.
 */
export function startConfined(
  { file, args }: Program,
  { cwd, env }: StartOptions,
): Promise<Confined | Failure> {
  return new Promise<Confined | Failure>((resolve) => {
    const child: ChildProcess = spawn(file, [...args], {
      cwd,
      // The tools must write English messages; the first process unsets the variable.
      env: { ...env, LC_ALL: "C" },
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    let stderr = "";
    const keep = (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-maxStderr));
    // Null if the process has no file descriptors left.
    const handle = child.stderr ? (child.stdio[3] as Duplex) : null;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      // unshare waits for its child and ignores TERM.
      if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    }, timeoutMs);
    const settle = (result: Confined | Failure) => {
      clearTimeout(timer);
      child.stderr?.off("data", keep);
      child.off("error", failed).off("close", ended);
      resolve(result);
    };
    const failed = (error: NodeJS.ErrnoException) =>
      settle({ why: error.message, isPassing: !missing.has(error.code ?? "") });
    const ended = (code: number | null, signal: string | null) => {
      if (code !== null) return settle(failureOf(stderr, args));
      const why = isLate ? `no answer within ${timeoutMs / 1000} s` : `ended by ${signal}`;
      settle({ why, isPassing: true });
    };
    child.on("error", failed).on("close", ended);
    child.stderr?.on("data", keep);
    handle
      ?.on("error", () => undefined)
      .once("data", () => {
        if (isLate) return;
        settle({
          child,
          begin: () => handle.end("\n"),
          leave: () => child.stdio.forEach((one) => one?.destroy()),
        });
      });
    // A shortage of the machine, such as of memory, may throw at once.
  }).catch((error: unknown) => ({ why: messageOf(error), isPassing: true }));
}

/** How many characters of the tools' messages are kept. */
const maxStderr = 4096;

/** Codes of a program that is missing or not executable. */
const missing: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM"]);

/** Messages of the kernel and the tools about permanent failures. */
const lasting =
  /not permitted|permission denied|superuser|invalid argument|not implemented|not supported|(unrecognized|unknown|invalid) option|not found|no such file/i;

function failureOf(stderr: string, args: readonly string[]): Failure {
  const lines = stderr.trim().split("\n");
  const answer = lines.find((line) => lasting.test(line));
  const why = answer ?? (lines.at(-1) || "unshare failed");
  return { why, isPassing: answer === undefined && !isTurnedOff(args) };
}

/** Whether the administrator set a limit of namespaces to 0: the kernel then reports ENOSPC, as for used-up ones. */
function isTurnedOff(args: readonly string[]): boolean {
  const kinds = ["user", "net", "pid"].filter((kind) => args.includes(`--${kind}`));
  return kinds.some((kind) => {
    try {
      return readFileSync(`/proc/sys/user/max_${kind}_namespaces`, "utf8").trim() === "0";
    } catch {
      return false;
    }
  });
}
