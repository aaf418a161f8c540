import type { StopReason } from "../../../../streams/outcomes.ts";
import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { lastValueFrom, NEVER, Subject, tap } from "rxjs";
import type { HostUserOptions } from "../../../../src/runtime/runners/host-user/host-user-options.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import {
  collected,
  entriesOf,
  exitOf,
  messagesOf,
  runnerContract,
  whenReady,
} from "../contract.ts";
import { aRequest, end, forever, log, processesOf } from "../shell-runs.ts";
import { whyNoNetwork } from "./network-namespaces.ts";
import { aRunner, leftovers } from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const baseDir = perTest(
  async () => join(await mkdtemp(join(tmpdir(), "al-runs-test-")), "runs"),
  (dir) => rm(join(dir, ".."), { recursive: true, force: true }),
);

const eventsOf = (request: RunRequest, options: Partial<HostUserOptions> = {}) =>
  collected(aRunner(baseDir(), options).run(request, NEVER));
const linesOf = async (script: string) => messagesOf(await eventsOf(aRequest(script)));

runnerContract("the host-user runner", () => ({
  runner: aRunner(baseDir()),
  request: aRequest,
  leftovers: (id) => leftovers(baseDir(), id),
}));

/** A folder of programs that come before, or in place of, those of the machine. */
async function binOf(...links: readonly string[]): Promise<string> {
  const bin = join(baseDir(), "../bin");
  await mkdir(bin);
  for (const name of links) await symlink(`/usr/bin/${name}`, join(bin, name));
  return bin;
}

describe("a run as the scheduler's user", () => {
  test("gets its job only over standard input, which stays open", async () => {
    const script = `read -r job; echo "$job" | grep -o the-job''-text; tr '\\0' '\\n' < /proc/$$/cmdline | grep -c the-job''-text; env; timeout 0.3 cat; echo "cat ended with $?"; ${end()}`;
    const [text, inArguments, ...environment] = await linesOf(script);
    expect([text, inArguments]).toEqual(["the-job-text", "0"]);
    expect(environment.join("\n")).not.toContain("the-job-text");
    expect(environment.at(-1)).toBe("cat ended with 124");
  });

  test.skipIf(whyNoNetwork() !== null)(
    "creates its namespaces once, without trying them before",
    async () => {
      const [bin, count] = [await binOf(), join(baseDir(), "../count")];
      const { PATH = "" } = process.env;
      const counting = `#!/bin/sh\necho >> '${count}'\nexec "$(PATH='${PATH}' command -v unshare)" "$@"\n`;
      await writeFile(join(bin, "unshare"), counting, { mode: 0o755 });
      await eventsOf(aRequest(end()), { env: { ...process.env, PATH: `${bin}:${PATH}` } });
      // The user of a scheduler that is not root needs a user namespace around the others.
      const needed = process.getuid?.() === 0 ? 1 : 2;
      expect((await readFile(count, "utf8")).length).toBe(needed);
    },
  );

  test("gets a few harmless variables, and a private folder that is removed afterwards", async () => {
    const env = { ...process.env, SECRET_TOKEN: "s3cret", AL_HOME: "/x", LANG: "de_DE.UTF-8" };
    const script = `pwd; stat -c %a .; echo hi > file; env; ${end()}`;
    const request = aRequest(script, { timezone: "Asia/Tokyo" });
    const [place, mode, ...variables] = messagesOf(await eventsOf(request, { env }));
    const { instanceId } = request;
    const own = join(baseDir(), instanceId);
    expect([place, mode]).toEqual([own, "700"]);
    const wanted = [
      "TZ=Asia/Tokyo",
      "LANG=de_DE.UTF-8",
      `HOME=${own}`,
      `AL_INSTANCE=${instanceId}`,
    ];
    expect(variables).toEqual(expect.arrayContaining(wanted));
    expect(variables.join("\n")).not.toMatch(/SECRET_TOKEN|AL_HOME|VITEST/);
    expect(await readdir(baseDir())).toEqual([`${instanceId}.log`]);
    expect((await lstat(baseDir())).mode & 0o777).toBe(0o700);
  });

  test("is rejected if the folder for runs is a symbolic link", async () => {
    await symlink(tmpdir(), baseDir());
    const { rejected } = exitOf(await eventsOf(aRequest(end())));
    expect(rejected).toContain(`${baseDir()} is not a folder`);
  });

  test("without a PID namespace leaves no process with its environment mark, and its log says that", async () => {
    const env = { PATH: await binOf("setsid", "sleep") };
    const stop$ = new Subject<StopReason>();
    const request = aRequest(`trap '' TERM; setsid sleep 300 & ${log("ready")}; ${forever}`);
    const run$ = aRunner(baseDir(), { env }).run(request, stop$);
    const events = await collected(run$.pipe(whenReady(() => stop$.next("killed"))));
    expect(exitOf(events).signal).toBe("SIGKILL");
    expect(await processesOf(request.instanceId)).toEqual([]);
    const reason = /no PID namespace \(spawn unshare ENOENT\)/;
    expect(messagesOf(events)).toEqual([expect.stringMatching(reason), "ready"]);
  });

  test("leaves no process, marked or not, if it has a PID namespace", async () => {
    const mark = `4${Math.floor(Math.random() * 1e6)}`;
    const lines = await linesOf(`env -i setsid sleep ${mark} & sleep 0.2; ${end()}`);
    const { stdout } = await promisify(execFile)("ps", ["-eo", "args"]);
    const held = !lines.some((line) => line.includes("no PID namespace"));
    expect(stdout.includes(`sleep ${mark}`)).toBe(!held);
  });

  test("logs raw lines of both outputs, standard error as a warning", async () => {
    const script = `echo out; sleep 0.1; printf 'er\\007r\\n' >&2; ${end()}`;
    expect(entriesOf(await eventsOf(aRequest(script)))).toMatchObject([
      { msg: "out", level: 30, kind: "process", stream: "stdout" },
      { msg: "err", level: 40, kind: "process", stream: "stderr" },
    ]);
  });

  test("has endless output capped, and still succeeds", async () => {
    const { heapUsed } = process.memoryUsage();
    const script = `yes "$(head -c 4000 /dev/zero | tr '\\0' y)" | head -c 120000000; echo; ${end()}`;
    let bytes = 0;
    let last = "";
    const run$ = aRunner(baseDir())
      .run(aRequest(script), NEVER)
      .pipe(
        tap((event) => {
          if (event.type !== "output") return;
          [bytes, last] = [bytes + event.entry.msg.length, event.entry.msg];
        }),
      );
    expect(exitOf([await lastValueFrom(run$)])).toMatchObject({ exitCode: 0, error: null });
    expect(last).toMatch(/^output capped/);
    expect(bytes).toBeLessThan(53_000_000);
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(200_000_000);
  });
});
