import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { messageOf } from "../../../foundation/errors.ts";
import type { Program } from "./supervisor-order.ts";

/** The program, started so that all it starts ends with it. */
export type Confine = (program: Program) => Program;

/** Why one does not work here. */
interface Failure {
  readonly why: string;
  /** Whether it may work later: the machine lacked something at that moment, or took too long. */
  readonly isPassing: boolean;
}

export type Probed = { readonly confine: Confine } | Failure;

/** The first variant that works. A passing failure ends the search: the variants after it isolate less. */
export async function firstThatWorks(
  variants: readonly Confine[],
  env: NodeJS.ProcessEnv,
): Promise<Probed> {
  let failure: Failure = { why: "", isPassing: false };
  for (const confine of variants) {
    const failed = await tryOut(confine({ file: "true", args: [] }), env);
    if (failed === null) return { confine };
    failure = failed;
    if (failed.isPassing) break;
  }
  return failure;
}

/** Long enough for a machine under load, in ms. */
const timeoutMs = 5000;

function tryOut({ file, args }: Program, own: NodeJS.ProcessEnv): Promise<Failure | null> {
  // Its words are read in English.
  const env = { ...own, LC_ALL: "C" };
  // unshare waits for its child whatever TERM says.
  const options = { env, timeout: timeoutMs, killSignal: "SIGKILL" } as const;
  return new Promise<Failure | null>((resolve) => {
    execFile(file, [...args], options, (error, _out, stderr) => {
      if (error === null) return resolve(null);
      const { code, signal } = error;
      if (typeof code === "number") return resolve(failureOf(stderr, args));
      const ended = error.killed ? `no answer within ${timeoutMs / 1000} s` : `ended by ${signal}`;
      resolve({ why: code == null ? ended : error.message, isPassing: !missing.has(code ?? "") });
    });
    // What the machine lacks may be thrown at once, such as memory.
  }).catch((error: unknown) => ({ why: messageOf(error), isPassing: true }));
}

/** Codes of a program that is missing or must not be started. */
const missing: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM"]);

/** The answers of the kernel and the tools that do not change by themselves. */
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
