import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { runCommand } from "../../../src/runtime/harness/run-program.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const cwd = perTest(tempDir);

async function run(
  command: string,
  {
    timeoutMs = 20_000,
    activeMs = () => performance.now(),
    signal = new AbortController().signal,
  } = {},
) {
  const lines: string[] = [];
  const before = performance.now();
  const end = await runCommand(command, {
    cwd: cwd(),
    env: { PATH: process.env.PATH ?? "" },
    timeoutMs,
    activeMs,
    signal,
    onLine: (line, stream) => void lines.push(`${stream}: ${line}`),
  });
  return { ...end, lines, tookMs: performance.now() - before };
}

/** The process whose id the command wrote to the file. */
async function pidIn(file: string): Promise<number> {
  return Number(await readFile(join(cwd(), file), "utf8"));
}

const lives = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, "utf8").then(
    (stat) => !/\) Z /.test(stat),
    () => false,
  );

test("a command returns its lines as they come, its exit code, and the unfinished last line", async () => {
  const { exitCode, problem, lines } = await run("echo one; printf two; echo no >&2; exit 3");
  expect({ exitCode, problem }).toEqual({ exitCode: 3, problem: null });
  expect(lines.toSorted()).toEqual(["stderr: no", "stdout: one", "stdout: two"]);
});

test("a command sees its own environment only", async () => {
  process.env.AL_TEST_LEAK = "leaked";
  const { lines } = await run("env");
  delete process.env.AL_TEST_LEAK;
  expect(lines.join("\n")).toContain("PATH=");
  expect(lines.join("\n")).not.toContain("AL_TEST_LEAK");
});

test("a command has ended when its process ends, though a child keeps the output open", async () => {
  const { tookMs, exitCode } = await run("echo $$ > pid; setsid sleep 30 & echo $! > left; exit 0");
  expect(exitCode).toBe(0);
  expect(tookMs).toBeLessThan(20_000);
  const left = await pidIn("left");
  expect(await lives(left)).toBe(true);
  process.kill(left, "SIGKILL");
});

test.each(["sleep 60", "setsid sleep 60", "setsid sh -c 'sleep 60 & echo $! > child; wait'"])(
  "a command is killed with all its processes when it takes too long: %s",
  async (child) => {
    const { problem, exitCode, tookMs } = await run(
      `(${child}) & echo $! > child; trap '' TERM; sleep 60`,
      { timeoutMs: 400 },
    );
    expect({ problem, exitCode }).toEqual({ problem: "took longer than 0.4 s", exitCode: null });
    expect(tookMs).toBeLessThan(20_000);
    const pid = await pidIn("child");
    await expect.poll(() => lives(pid)).toBe(false);
  },
);

test("a command is not killed while the run waits for a person, only after that time", async () => {
  const waits = await run("sleep 0.6; echo done", { timeoutMs: 300, activeMs: () => 0 });
  expect(waits).toMatchObject({ problem: null, lines: ["stdout: done"] });
  const before = performance.now();
  const activeMs = () => Math.max(0, performance.now() - before - 500);
  const late = await run("sleep 60", { timeoutMs: 300, activeMs });
  expect(late.problem).toBe("took longer than 0.3 s");
  expect(late.tookMs).toBeGreaterThan(790);
});

test("a command does not start when the run is stopped already", async () => {
  const { problem } = await run("sleep 0.2; touch began", { signal: AbortSignal.abort() });
  expect(problem).toBe("was stopped");
  await wait(400);
  await expect(readFile(join(cwd(), "began"))).rejects.toThrow("ENOENT");
});

test("a command reports why it could not start, without the command, which may hold secrets", async () => {
  await rm(cwd(), { recursive: true });
  const { problem, exitCode } = await run("echo hunter2");
  expect(exitCode).toBeNull();
  expect(problem).toContain("could not be started");
  expect(problem).not.toContain("hunter2");
});

test("a command keeps only the beginning of an endless line", async () => {
  const { lines } = await run("head -c 30000000 /dev/zero");
  expect(lines.map(({ length }) => length)).toEqual(["stdout: ".length + 32 * 1024]);
});
