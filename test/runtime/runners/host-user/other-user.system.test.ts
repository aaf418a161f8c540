import { chmod, chown, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { lastValueFrom, NEVER, Subject, tap, toArray, type Observable } from "rxjs";
import { anyAgent } from "../../../../src/runtime/runners/host-user/sudoers-rule.ts";
import type { Runner, RunnerEvent, StopReason } from "../../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { exitOf, messagesOf, runnerContract, until } from "../contract.ts";
import {
  agentUsers,
  asUser,
  uidOf,
  whyNoOsUsers,
  withSudoersRule,
} from "../../../helpers/os-users.ts";
import type { AgentUsers, OsUser } from "../../../helpers/os-users.ts";
import { isLong } from "../../../helpers/long.ts";
import { end, forever, log } from "../shell-runs.ts";
import { remoteRunner } from "./remote-runner.ts";
import { aRequest, aRunner, supervisorProgram, leftovers } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const missing = whyNoOsUsers();
if (missing !== null) process.stderr.write(`skipped: runs as another OS user (${missing})\n`);

/** An unprivileged scheduler can do less. */
const schedulers = isLong ? (["unprivileged", "root"] as const) : (["unprivileged"] as const);

describe.skipIf(missing !== null)("a run as another OS user", () => {
  let users: AgentUsers;
  let agentUser: OsUser;
  let schedulerUser: OsUser;
  let root: string;
  let baseDir: string;

  beforeAll(async () => {
    users = await agentUsers(supervisorProgram(anyAgent));
    ({ agentUser, schedulerUser } = users);
  });
  afterAll(() => users.remove());
  beforeEach(async () => {
    root = tempDir();
    await chmod(root, 0o755);
    baseDir = join(root, "runs");
  });

  const requestAs = (title: string): RunRequest =>
    aRequest(title, { runtime: { type: "host-user", runAs: agentUser.name } });

  /** The parent of the folder of runs is the scheduler's, as it makes that folder itself. */
  const runnerOf = async (scheduler: "root" | "unprivileged"): Promise<Runner> => {
    if (scheduler === "root") return aRunner(baseDir);
    await chown(root, uidOf(schedulerUser), 0);
    return remoteRunner(schedulerUser, baseDir);
  };
  const collect = (run$: Observable<RunnerEvent>) => lastValueFrom(run$.pipe(toArray()));

  for (const scheduler of schedulers) {
    runnerContract(`the host-user runner of ${scheduler}, with another OS user`, async () => ({
      runner: await runnerOf(scheduler),
      request: (scenario) => requestAs(scenario),
      leftovers: (id) => leftovers(baseDir, id),
      dispose: () => Promise.resolve(),
    }));

    describe(`started by a scheduler that is ${scheduler}`, () => {
      test("runs as that user, in a folder of that user's, and only the scheduler's log stays", async () => {
        const request = requestAs(
          `id -un; pwd; stat -c '%a %U' .; echo x > "$TMPDIR/file"; stat -c %U "$TMPDIR/file"; ${end()}`,
        );
        const events = await collect((await runnerOf(scheduler)).run(request, NEVER));
        const { name } = agentUser;
        const workDir = join(baseDir, request.instanceId);
        expect(messagesOf(events)).toEqual([name, workDir, `700 ${name}`, name]);
        const logFile = `${request.instanceId}.log`;
        expect(await readdir(baseDir)).toEqual([logFile]);
        const owner = scheduler === "root" ? 0 : uidOf(schedulerUser);
        expect(await stat(join(baseDir, logFile))).toMatchObject({ uid: owner, mode: 0o100600 });
        expect(await stat(baseDir)).toMatchObject({ uid: owner, mode: 0o041733 });
      });

      test("has none of the scheduler's or sudo's variables", async () => {
        const request = requestAs(`env; ${end()}`);
        const said = messagesOf(await collect((await runnerOf(scheduler)).run(request, NEVER)));
        expect(said).toContain(`USER=${agentUser.name}`);
        expect(said).toContain(`HOME=${join(baseDir, request.instanceId)}`);
        expect(said).toContain(`SHELL=/bin/sh`);
        expect(said.join("\n")).not.toMatch(/SUDO_|VITEST|NODE_/);
      });

      test("can't read its log, the scheduler's folders, or another run's", async () => {
        const secrets = join(root, "secrets");
        await mkdir(secrets, { mode: 0o700 });
        if (scheduler === "unprivileged") await chown(secrets, uidOf(schedulerUser), 0);
        const tries = [`cat ${baseDir}/*.log`, `ls ${baseDir}`, `ls ${secrets}`, `cat $PWD.log`];
        const script = tries.map((each) => `if ${each} >/dev/null 2>&1; then echo read; fi`);
        const request = requestAs([...script, "echo tried", end()].join("\n"));
        const events = await collect((await runnerOf(scheduler)).run(request, NEVER));
        expect(messagesOf(events)).toEqual(["tried"]);
      });

      test("ends after its grace period when it is killed, with all its processes, even detached ones", async () => {
        const stop$ = new Subject<StopReason>();
        const mark = `3${Math.floor(Math.random() * 1e6)}`;
        const request = requestAs(
          `env -i setsid sleep ${mark} & trap '' TERM; ${log("ready")}; ${forever}`,
        );
        let asked = 0;
        let took = Infinity;
        const run$ = (await runnerOf(scheduler)).run(request, stop$).pipe(
          tap((event) => {
            if (event.type === "exit") took = performance.now() - asked;
            if (!messagesOf([event]).includes("ready")) return;
            asked = performance.now();
            stop$.next("killed");
          }),
        );
        await collect(run$);
        expect(took).toBeLessThan(10_000);
        expect(sleepers(mark)).toEqual([]);
        expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
      });

      test("removes even files that it made inaccessible", async () => {
        const request = requestAs(`mkdir -p a/b; touch a/b/c; chmod 0 a/b a; ${end()}`);
        await collect((await runnerOf(scheduler)).run(request, NEVER));
        await until(async () => (await leftovers(baseDir, request.instanceId)).length === 0);
      });
    });
  }

  test("is ended by a command as its own user if sudo hands its process over to it", async () => {
    // Without a session to close, sudo does not wait, and its process may not be signalled any more.
    const handOver = `Defaults:${schedulerUser.name} !pam_session, !pam_setcred\n`;
    const takeOut = await withSudoersRule(handOver);
    try {
      const runner = await runnerOf("unprivileged");
      for (const scenario of ["ends-on-term", "ignores-term"] as const) {
        const request = requestAs(scenario);
        const stop$ = new Subject<StopReason>();
        const run$ = runner.run(request, stop$).pipe(tap(() => stop$.next("killed")));
        const { exitCode, signal } = exitOf(await collect(run$));
        expect([exitCode, signal]).toEqual(
          scenario === "ends-on-term" ? [143, null] : [null, "SIGKILL"],
        );
        expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
      }
    } finally {
      await takeOut();
    }
  });

  test("is the only thing the rule allows: no other program, argument or variable", () => {
    const { file, args } = supervisorProgram("dev");
    const sudo = ["sudo", "-n", "-u", agentUser.name];
    const attempt =
      (...command: string[]) =>
      () =>
        execFileSync("setpriv", asUser(schedulerUser, ...sudo, ...command), { stdio: "pipe" });
    expect(attempt("true")).toThrow(/sudo/);
    expect(attempt(file, "-e", "0")).toThrow(/sudo/);
    expect(attempt(file, ...args.slice(0, -1), "/other/project")).toThrow(/sudo/);
    expect(attempt("NODE_OPTIONS=--inspect", file, ...args)).toThrow(/not allowed to set/);
    expect(attempt(file, ...args)).toThrow(/no whole order/);
  });

  test("is rejected with advice when no rule allows it", async () => {
    const runAs = schedulerUser.name;
    const request = aRequest(end(), { runtime: { type: "host-user", runAs } });
    await chown(root, uidOf(agentUser), 0);
    const events = await collect(remoteRunner(agentUser, baseDir).run(request, NEVER));
    expect(exitOf(events).rejected).toMatch(/^no run as OS user.*al doctor/);
  });

  test("is rejected when the folder of runs belongs to another user", async () => {
    await mkdir(baseDir);
    await chown(baseDir, uidOf(agentUser), 0);
    const { rejected } = exitOf(await collect(aRunner(baseDir).run(requestAs(end()), NEVER)));
    expect(rejected).toContain(`${baseDir} belongs to another OS user (id ${uidOf(agentUser)})`);
  });
});

function sleepers(seconds: string): readonly string[] {
  const all = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  return all.filter((args) => args.trim() === `sleep ${seconds}`);
}
