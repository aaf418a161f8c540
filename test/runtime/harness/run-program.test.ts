import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../../src/runtime/harness/run-program.ts";
import { pause } from "../../helpers/pause.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const cwd = perTest(tempDir);

async function run(command: string, options: Partial<Parameters<typeof runCommand>[1]> = {}) {
  const lines: string[] = [];
  const end = await runCommand(command, {
    cwd: cwd(),
    env: { PATH: process.env.PATH ?? "" },
    timeoutMs: 60_000,
    activeMs: () => performance.now(),
    signal: new AbortController().signal,
    onLine: (line, stream) => void lines.push(`${stream}: ${line}`),
    ...options,
  });
  return { ...end, lines };
}

/** The process whose id the command wrote to the file. */
const pidIn = async (file: string) => Number(await readFile(join(cwd(), file), "utf8"));

const lives = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, "utf8").then(
    (stat) => !/\) Z /.test(stat),
    () => false,
  );

describe("a command that the harness starts", () => {
  test("returns output lines at once, the exit code, and an incomplete last line", async () => {
    const { exitCode, problem, lines } = await run("echo one; printf two; echo no >&2; exit 3");
    expect({ exitCode, problem }).toEqual({ exitCode: 3, problem: null });
    expect(lines.toSorted()).toEqual(["stderr: no", "stdout: one", "stdout: two"]);
  });

  test("gets only the given environment", async () => {
    vi.stubEnv("AL_TEST_LEAK", "leaked");
    const { lines } = await run("env");
    vi.unstubAllEnvs();
    expect(lines.join("\n")).toContain("PATH=");
    expect(lines.join("\n")).not.toContain("AL_TEST_LEAK");
  });

  test("ends when its process ends, even if a child keeps the output open", async () => {
    const { exitCode } = await run("setsid sleep 600 & echo $! > left; exit 0");
    expect(exitCode).toBe(0);
    const left = await pidIn("left");
    expect(await lives(left)).toBe(true);
    process.kill(left, "SIGKILL");
  });

  test.each(["sleep 600", "setsid sleep 600", "setsid sh -c 'sleep 600 & echo $! > child; wait'"])(
    "is killed with all its processes when it takes too long: %s",
    async (child) => {
      let hasBegun = false;
      const { problem, exitCode } = await run(
        `(${child}) & echo $! > child; trap '' TERM; echo begun; sleep 600`,
        {
          timeoutMs: 400,
          activeMs: () => (hasBegun ? 1_000 : 0),
          onLine: () => void (hasBegun = true),
        },
      );
      expect({ problem, exitCode }).toEqual({ problem: "took longer than 0.4 s", exitCode: null });
      const pid = await pidIn("child");
      await expect.poll(() => lives(pid)).toBe(false);
    },
  );

  test("has its timeout paused while the run waits for a person", async () => {
    const waits = await run("sleep 0.6; echo done", { timeoutMs: 300, activeMs: () => 0 });
    expect(waits).toMatchObject({ problem: null, lines: ["stdout: done"] });
    let isWaiting = true;
    const activeMs = () => (isWaiting ? 0 : performance.now());
    const late = run("sleep 0.6; echo done; sleep 600", {
      timeoutMs: 300,
      activeMs,
      onLine: () => void (isWaiting = false),
    });
    expect(await late).toMatchObject({ problem: "took longer than 0.3 s" });
  });

  test("is killed at once if the run is stopped already", async () => {
    const { problem } = await run("sleep 0.5; touch began", { signal: AbortSignal.abort() });
    expect(problem).toBe("was stopped");
    await pause(700, "the command must not run on");
    expect(await readdir(cwd())).toEqual([]);
  });

  test("reports why it could not start, without the command line", async () => {
    await rm(cwd(), { recursive: true });
    const { problem, exitCode } = await run("echo hunter2");
    expect(exitCode).toBeNull();
    expect(problem).toContain("could not be started");
    expect(problem).not.toContain("hunter2");
  });

  test("keeps only the beginning of an endless line", async () => {
    const { lines } = await run("head -c 30000000 /dev/zero");
    expect(lines.map(({ length }) => length)).toEqual(["stdout: ".length + 32 * 1024]);
  });
});
