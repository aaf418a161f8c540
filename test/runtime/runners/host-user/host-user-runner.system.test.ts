import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { lastValueFrom, NEVER, Subject, tap, toArray } from "rxjs";
import type { HostUserOptions } from "../../../../src/runtime/runners/host-user/host-user-options.ts";
import type { RunnerEvent, StopReason } from "../../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { exitOf, messagesOf, runnerContract } from "../contract.ts";
import { end, forever, jobOf, log, processesOf } from "../shell-runs.ts";
import { whyNoNetwork } from "./network-namespaces.ts";
import { aRequest, aRunner, leftovers } from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const baseDir = perTest(
  async () => join(await mkdtemp(join(tmpdir(), "al-runs-test-")), "runs"),
  (dir) => rm(join(dir, ".."), { recursive: true, force: true }),
);

const eventsOf = (
  request: RunRequest,
  options: Partial<HostUserOptions> = {},
  stop$: Subject<StopReason> = new Subject(),
): Promise<RunnerEvent[]> =>
  lastValueFrom(aRunner(baseDir(), options).run(request, stop$).pipe(toArray()));

runnerContract("the host-user runner", () =>
  Promise.resolve({
    runner: aRunner(baseDir()),
    request: (scenario) => aRequest(scenario),
    leftovers: (id) => leftovers(baseDir(), id),
    dispose: () => Promise.resolve(),
  }),
);

test("a run as the scheduler's user gets its job over standard input, which stays open, and nothing of it as argument or environment", async () => {
  const script = `read -r job; echo "$job" | grep -o the-job''-text; tr '\\0' '\\n' < /proc/$$/cmdline | grep -c the-job''-text; env; timeout 0.3 cat; echo "cat ended with $?"; ${end()}`;
  const messages = messagesOf(await eventsOf(aRequest(script)));
  expect(messages[0]).toBe("the-job-text");
  expect(messages[1]).toBe("0");
  expect(messages.slice(2).join("\n")).not.toContain("the-job-text");
  expect(messages.at(-1)).toBe("cat ended with 124");
});

test.skipIf(whyNoNetwork() !== null)(
  "a run as the scheduler's user creates its namespaces once, without a trial",
  async () => {
    const [bin, count] = [join(baseDir(), "../bin"), join(baseDir(), "../count")];
    const { PATH = "" } = process.env;
    await mkdir(bin);
    const counting = `#!/bin/sh\necho >> '${count}'\nexec "$(PATH='${PATH}' command -v unshare)" "$@"\n`;
    await writeFile(join(bin, "unshare"), counting, { mode: 0o755 });
    const env = { ...process.env, PATH: `${bin}:${PATH}` };
    expect(exitOf(await eventsOf(aRequest(end()), { env }))).toMatchObject({ exitCode: 0 });
    // The user of a scheduler that is not root needs a user namespace around the others.
    const needed = process.getuid?.() === 0 ? 1 : 2;
    expect((await readFile(count, "utf8")).length).toBe(needed);
  },
);

test("a run as the scheduler's user gets only a few harmless variables of the scheduler", async () => {
  const env = { ...process.env, SECRET_TOKEN: "s3cret", AL_HOME: "/x", LANG: "de_DE.UTF-8" };
  const request = aRequest(`env; ${end()}`, { timezone: "Asia/Tokyo" });
  const messages = messagesOf(await eventsOf(request, { env }));
  const workDir = join(baseDir(), request.instanceId);
  expect(messages).toEqual(
    expect.arrayContaining([
      `HOME=${workDir}`,
      "TZ=Asia/Tokyo",
      "LANG=de_DE.UTF-8",
      `AL_INSTANCE=${request.instanceId}`,
    ]),
  );
  expect(messages.join("\n")).not.toMatch(/SECRET_TOKEN|AL_HOME|VITEST/);
});

test("a run as the scheduler's user works in a private folder of its own that is removed afterwards", async () => {
  const request = aRequest(`pwd; stat -c %a .; echo hi > file; ${end()}`);
  const messages = messagesOf(await eventsOf(request));
  expect(messages).toEqual([join(baseDir(), request.instanceId), "700"]);
  expect(await readdir(baseDir())).toEqual([`${request.instanceId}.log`]);
  expect((await lstat(baseDir())).mode & 0o777).toBe(0o700);
});

test("a run as the scheduler's user is rejected when the folder of runs is a link", async () => {
  await symlink(tmpdir(), baseDir());
  const { rejected } = exitOf(await eventsOf(aRequest(end())));
  expect(rejected).toContain(`${baseDir()} is not a folder`);
});

test("a run as the scheduler's user is rejected for an OS user that does not exist, and leaves no log", async () => {
  const request = aRequest(end(), { runtime: { type: "host-user", runAs: "al-nobody-here" } });
  const { rejected } = exitOf(await eventsOf(request));
  expect(rejected).toContain(`no run as OS user "al-nobody-here"`);
  expect(rejected).toMatch(/al doctor|install sudo/);
  expect(await readdir(baseDir())).toEqual([]);
});

test("a run as the scheduler's user is rejected with the reason when its job can't be made, and leaves no folder", async () => {
  const prepare = () => Promise.reject(new Error("credential github_token is missing"));
  const exit = exitOf(await eventsOf(aRequest(end()), { prepare }));
  expect(exit.rejected).toBe("credential github_token is missing");
  expect(await readdir(baseDir())).toEqual([]);
});

test("a run as the scheduler's user ends even if a process still holds its output and its session", async () => {
  const request = aRequest(`setsid sleep 300 & ${log("bye")}; ${end()}`);
  const before = performance.now();
  expect(messagesOf(await eventsOf(request))).toEqual(["bye"]);
  expect(performance.now() - before).toBeLessThan(20_000);
  expect(await processesOf(request.instanceId)).toEqual([]);
});

test("a run as the scheduler's user ends even if a process of it can't be found", async () => {
  const request = aRequest(`env -i setsid sleep 40 & ${log("bye")}; ${end()}`);
  const before = performance.now();
  expect(exitOf(await eventsOf(request)).exitCode).toBe(0);
  expect(performance.now() - before).toBeLessThan(20_000);
});

/** Stops a run, once it is ready, that ignores TERM and has a process outside of its group. */
const killed = async (options: Partial<HostUserOptions> = {}) => {
  const stop$ = new Subject<StopReason>();
  const request = aRequest(`trap '' TERM; setsid sleep 300 & ${log("ready")}; ${forever}`);
  const run$ = aRunner(baseDir(), options).run(request, stop$);
  const events = await lastValueFrom(
    run$.pipe(
      tap((event) => {
        if (messagesOf([event]).includes("ready")) stop$.next("killed");
      }),
      toArray(),
    ),
  );
  expect(exitOf(events).signal).toBe("SIGKILL");
  expect(await processesOf(request.instanceId)).toEqual([]);
  return messagesOf(events);
};

test("a run as the scheduler's user kills a process outside its group when it is stopped", () =>
  killed());

test("a run as the scheduler's user reports that the kernel has no PID namespace for it, and still ends processes with its mark", async () => {
  const bin = join(baseDir(), "..", "bin");
  await mkdir(bin);
  for (const name of ["setsid", "sleep"]) await symlink(`/usr/bin/${name}`, join(bin, name));
  const [warning = "", ready] = await killed({ env: { PATH: bin } });
  expect(warning).toContain("no PID namespace (spawn unshare ENOENT)");
  expect(ready).toBe("ready");
});

test("a run as the scheduler's user ends even processes without its mark, if the kernel contains it", async () => {
  const mark = `4${Math.floor(Math.random() * 1e6)}`;
  const request = aRequest(`env -i setsid sleep ${mark} & sleep 0.2; ${end()}`);
  const events = await eventsOf(request);
  const { stdout } = await promisify(execFile)("ps", ["-eo", "args"]);
  const held = !messagesOf(events).some((line) => line.includes("no PID namespace"));
  expect(stdout.includes(`sleep ${mark}`)).toBe(!held);
});

test("a run as the scheduler's user fails when it exits with 0 without an account", async () =>
  expect(exitOf(await eventsOf(aRequest("exit 0"))).error).toBe(
    "the run ended without its account",
  ));

test("a run as the scheduler's user logs raw lines of both outputs, standard error as a warning", async () => {
  const events = await eventsOf(
    aRequest(`echo out; sleep 0.1; printf 'er\\007r\\n' >&2; ${end()}`),
  );
  const entries = events.flatMap((event) => (event.type === "output" ? [event.entry] : []));
  expect(entries).toMatchObject([
    { msg: "out", level: 30, kind: "process", stream: "stdout" },
    { msg: "err", level: 40, kind: "process", stream: "stderr" },
  ]);
});

test("a run as the scheduler's user is cut off when it writes without end, and its account still counts", async () => {
  const heapBefore = process.memoryUsage().heapUsed;
  const request = aRequest(
    `yes "$(head -c 4000 /dev/zero | tr '\\0' y)" | head -c 120000000; echo; ${end()}`,
  );
  let bytes = 0;
  let last = "";
  const exit = await new Promise<RunnerEvent>((resolve) => {
    aRunner(baseDir())
      .run(request, NEVER)
      .subscribe((event) => {
        if (event.type === "output")
          [bytes, last] = [bytes + event.entry.msg.length, event.entry.msg];
        if (event.type === "exit") resolve(event);
      });
  });
  expect(exitOf([exit])).toMatchObject({ exitCode: 0, error: null });
  expect(last).toMatch(/^output capped/);
  expect(bytes).toBeLessThan(53_000_000);
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(200_000_000);
});

test("a run as the scheduler's user accepts a job that is larger than a pipe holds", async () => {
  const payload = "p".repeat(3_000_000);
  const prepare = (request: RunRequest, workDir: string) =>
    Promise.resolve({ ...jobOf(request, workDir), payload });
  const script = `head -n 1 | wc -c; ${end()}`;
  const [size] = messagesOf(await eventsOf(aRequest(script), { prepare }));
  expect(Number(size)).toBeGreaterThan(payload.length);
});

test("/proc and setsid exist, or these tests would prove nothing", async () => {
  await promisify(execFile)("setsid", ["true"]);
  expect(existsSync("/proc/self/environ")).toBe(true);
});
