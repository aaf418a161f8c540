import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom, map, NEVER, timer, toArray } from "rxjs";
import { until } from "../contract.ts";
import { jobOf } from "../shell-runs.ts";
import { aRequest, aRunner } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

function baseDir(): string {
  const dir = tempDir();
  return dir;
}

test("a run's process gets no request before the begin of the run is committed", async () => {
  const dir = baseDir();
  const mark = join(dir, "mark");
  let commit = (): void => undefined;
  const begun = new Promise<void>((resolve) => (commit = resolve));
  const runner = aRunner(dir, { begin: () => begun });
  const events = lastValueFrom(runner.run(aRequest(`: > '${mark}'`), NEVER).pipe(toArray()));
  // The run's supervisor and its namespaces exist meanwhile.
  await until(() => Promise.resolve(readdirSync(dir).length === 2));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(existsSync(mark)).toBe(false);
  commit();
  await events;
  expect(existsSync(mark)).toBe(true);
});

test.each([0, 500])(
  "a run that is stopped before its begin is committed (%i ms) has never begun",
  async (ms) => {
    const dir = baseDir();
    const runner = aRunner(dir, { begin: () => new Promise(() => undefined) });
    const stop$ = timer(ms).pipe(map(() => "interrupted" as const));
    const exit = await lastValueFrom(runner.run(aRequest("true"), stop$));
    expect(exit).toMatchObject({ exit: { neverBegan: true, signal: "SIGTERM" } });
    expect(readdirSync(dir)).toEqual([]);
  },
);

test("a run without free file descriptors is blocked, and can be started again", async () => {
  const dir = baseDir();
  const request = aRequest("true");
  let isFull = true;
  const runner = aRunner(dir, {
    prepare: (asked, workDir) =>
      isFull
        ? Promise.reject(Object.assign(new Error("EMFILE: no"), { code: "EMFILE" }))
        : Promise.resolve(jobOf(asked, workDir)),
  });
  const reason = "the process has too many open files";
  const blocked = await lastValueFrom(runner.run(request, NEVER));
  expect(blocked).toMatchObject({ exit: { rejected: reason, blocked: true } });
  isFull = false;
  expect(await lastValueFrom(runner.run(request, NEVER))).toMatchObject({
    type: "exit",
    exit: { rejected: null, exitCode: 0 },
  });
});
