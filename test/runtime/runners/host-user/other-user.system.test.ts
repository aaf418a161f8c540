import type { StopReason } from "../../../../streams/outcomes.ts";
import { chown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { NEVER, Subject, tap } from "rxjs";
import { anyAgent } from "../../../../src/runtime/runners/host-user/sudoers-rule.ts";
import type { Runner } from "../../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { collected, exitOf, messagesOf, runnerContract } from "../contract.ts";
import {
  agentUsers,
  asUser,
  uidOf,
  whyNoOsUsers,
  withSudoersRule,
} from "../../../helpers/os-users.ts";
import { isLong } from "../../../helpers/long.ts";
import { aRequest, end } from "../shell-runs.ts";
import { remoteRunner } from "./remote-runner.ts";
import { aRunner, supervisorProgram, leftovers } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perFile, perTest } from "../../../helpers/per-test.ts";
import { noteSkipped } from "../../../helpers/note-skipped.ts";

const missing = whyNoOsUsers();
noteSkipped("runs as another OS user", missing);

/** An unprivileged scheduler can do less. */
const schedulers = isLong ? (["unprivileged", "root"] as const) : (["unprivileged"] as const);

describe.skipIf(missing !== null)("a run as another OS user", () => {
  const users = perFile(
    () => agentUsers(supervisorProgram(anyAgent)),
    (users) => users.remove(),
  );
  const root = perTest(() => tempDir(0o755));
  const baseDir = () => join(root(), "runs");
  const requestAs = (title: string, runAs = users().agentUser.name): RunRequest =>
    aRequest(title, { runtime: { type: "host-user", runAs } });
  /** The parent of the folder of runs is the scheduler's, as it makes that folder itself. */
  const remotely = async (user = users().schedulerUser): Promise<Runner> => {
    await chown(root(), uidOf(user), 0);
    return remoteRunner(user, baseDir());
  };

  describe.each(schedulers)("started by a scheduler that is %s", (scheduler) => {
    const runner = () => (scheduler === "root" ? aRunner(baseDir()) : remotely());
    const linesOf = async (request: RunRequest) =>
      messagesOf(await collected((await runner()).run(request, NEVER)));

    runnerContract(`the host-user runner of ${scheduler}, with another OS user`, async () => ({
      runner: await runner(),
      request: (scenario) => requestAs(scenario),
      leftovers: (id) => leftovers(baseDir(), id),
    }));

    test("runs in that user's folder, without variables of the scheduler or sudo, and leaves only its log", async () => {
      const request = requestAs(
        `id -un; pwd; stat -c '%a %U' .; echo x > "$TMPDIR/file"; stat -c %U "$TMPDIR/file"; env; ${end()}`,
      );
      const { agentUser, schedulerUser } = users();
      const { name } = agentUser;
      const workDir = join(baseDir(), request.instanceId);
      const [user, place, folder, file, ...variables] = await linesOf(request);
      expect([user, place, folder, file]).toEqual([name, workDir, `700 ${name}`, name]);
      const wanted = [`USER=${name}`, `HOME=${workDir}`, "SHELL=/bin/sh"];
      expect(variables).toEqual(expect.arrayContaining(wanted));
      expect(variables.join("\n")).not.toMatch(/SUDO_|VITEST|NODE_/);
      const logFile = `${request.instanceId}.log`;
      expect(await readdir(baseDir())).toEqual([logFile]);
      const uid = scheduler === "root" ? 0 : uidOf(schedulerUser);
      expect(await stat(join(baseDir(), logFile))).toMatchObject({ uid, mode: 0o100600 });
      expect(await stat(baseDir())).toMatchObject({ uid, mode: 0o041733 });
    });

    test("leaves no process, even unmarked, and no file, even inaccessible", async () => {
      const mark = `3${Math.floor(Math.random() * 1e6)}`;
      const files = "mkdir -p a/b; touch a/b/c; chmod 0 a/b a";
      const request = requestAs(`${files}; env -i setsid sleep ${mark} & sleep 0.2; ${end()}`);
      await linesOf(request);
      await expect.poll(() => leftovers(baseDir(), request.instanceId)).toEqual([]);
      expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toContain(
        `sleep ${mark}`,
      );
    });
  });

  test("is ended by its own OS user if sudo does not wait for the run", async () => {
    // Without a session to close, sudo does not wait, and its process may not be signalled any more.
    const handOver = `Defaults:${users().schedulerUser.name} !pam_session, !pam_setcred\n`;
    const takeOut = await withSudoersRule(handOver);
    onTestFinished(takeOut);
    const runner = await remotely();
    const endings = { "ends-on-term": [143, null], "ignores-term": [null, "SIGKILL"] };
    for (const [scenario, ending] of Object.entries(endings)) {
      const request = requestAs(scenario);
      const stop$ = new Subject<StopReason>();
      const run$ = runner.run(request, stop$).pipe(tap(() => stop$.next("killed")));
      const { exitCode, signal } = exitOf(await collected(run$));
      expect([exitCode, signal]).toEqual(ending);
      expect(await leftovers(baseDir(), request.instanceId)).toEqual([]);
    }
  });

  test("can be started only with the program, arguments and variables of the sudoers rule", () => {
    const { file, args } = supervisorProgram("dev");
    const { agentUser, schedulerUser } = users();
    const attempt =
      (...command: string[]) =>
      () =>
        execFileSync(
          "setpriv",
          asUser(schedulerUser, "sudo", "-n", "-u", agentUser.name, ...command),
          { stdio: "pipe" },
        );
    expect(attempt("true")).toThrow(/sudo/);
    expect(attempt(file, "-e", "0")).toThrow(/sudo/);
    expect(attempt(file, ...args.slice(0, -1), "/other/project")).toThrow(/sudo/);
    expect(attempt("NODE_OPTIONS=--inspect", file, ...args)).toThrow(/not allowed to set/);
    expect(attempt(file, ...args)).toThrow(/no complete order/);
  });

  test("is rejected with advice when no sudoers rule allows it", async () => {
    const { agentUser, schedulerUser } = users();
    const request = requestAs(end(), schedulerUser.name);
    const events = await collected((await remotely(agentUser)).run(request, NEVER));
    expect(exitOf(events).rejected).toMatch(/^no run as OS user.*al doctor/);
  });
});
