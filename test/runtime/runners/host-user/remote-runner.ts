import type { StopReason } from "../../../../streams/outcomes.ts";
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Observable } from "rxjs";
import type { Runner, RunnerEvent } from "../../../../streams/runs/runner.ts";
import type { RunNetwork } from "../../../../streams/run-network.ts";
import { asUser, uidOf, type OsUser } from "../../../helpers/os-users.ts";
import type { RemoteRun } from "./scheduler-entry.ts";

const entry = fileURLToPath(new URL("scheduler-entry.ts", import.meta.url));

/**
 * Starts a scheduler of one run in a process of its own, as another OS user or (null) as this one; `within` is the
 * program that starts it, with its arguments.
 */
export function remoteScheduler(
  user: OsUser | null,
  run: RemoteRun,
  within: readonly string[] = [],
): ChildProcess {
  const program = [...within, process.execPath, entry];
  const [file = "", ...args] = user === null ? program : ["setpriv", ...asUser(user, ...program)];
  const child = spawn(file, args, {
    cwd: "/",
    env: { PATH: process.env.PATH },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.on("error", () => undefined).write(`${JSON.stringify(run)}\n`);
  return child;
}

/** A program that starts another one for this user in a user namespace, after `prelude` with all rights in it. */
export function inNamespace(user: OsUser, prelude: string): readonly string[] {
  const ids = ["user", "group"].map((id) => `--map-${id}=${uidOf(user)}`);
  const dropped = 'exec setpriv --inh-caps=-all --ambient-caps=-all "$@"';
  const shell = ["sh", "-c", `${prelude}\n${dropped}`, "sh"];
  return ["unshare", "--user", ...ids, "--keep-caps", "--mount", ...shell];
}

/** The host-user runner in a process of another OS user: an unprivileged scheduler. */
export function remoteRunner(
  user: OsUser,
  baseDir: string,
  { network = "open", within = [] }: { network?: RunNetwork; within?: readonly string[] } = {},
): Runner {
  return {
    run: (request, stop$) =>
      eventsOf(() => remoteScheduler(user, { baseDir, request, network }, within), stop$),
  };
}

/** The reports of such a scheduler. */
export function eventsOf(
  start: () => ChildProcess,
  stop$: Observable<StopReason>,
): Observable<RunnerEvent> {
  return new Observable((subscriber) => {
    const child = start();
    if (child.stdout === null) throw new Error("no output");
    // Not by readline, which ends a line at U+2028, too.
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) subscriber.next(JSON.parse(line) as RunnerEvent);
    });
    child.once("close", () => subscriber.complete());
    subscriber.add(() => child.stdin?.end("leave\n"));
    subscriber.add(stop$.subscribe(() => child.stdin?.write("stop\n")));
  });
}
