import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom, map, NEVER, timer } from "rxjs";
import { collected } from "../contract.ts";
import { aRequest, jobOf } from "../shell-runs.ts";
import { aRunner } from "./support.ts";
import { pause } from "../../../helpers/pause.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

test("a run's process starts only once the start of the run is stored", async () => {
  const dir = tempDir();
  const mark = join(dir, "mark");
  const begun = Promise.withResolvers<undefined>();
  const runner = aRunner(dir, { begin: () => begun.promise });
  const events = collected(runner.run(aRequest(`: > '${mark}'`), NEVER));
  // The run's supervisor and its namespaces exist meanwhile.
  await expect.poll(() => readdirSync(dir)).toHaveLength(2);
  await pause(500, "the run must not begin");
  expect(existsSync(mark)).toBe(false);
  begun.resolve(undefined);
  await events;
  expect(existsSync(mark)).toBe(true);
});

test.each([0, 500])(
  "a run that is stopped %i ms after its request, before its start is stored, exits as never started",
  async (ms) => {
    const dir = tempDir();
    const runner = aRunner(dir, { begin: () => new Promise(() => undefined) });
    const stop$ = timer(ms).pipe(map(() => "interrupted" as const));
    const exit = await lastValueFrom(runner.run(aRequest("true"), stop$));
    expect(exit).toMatchObject({ exit: { neverBegan: true, signal: "SIGTERM" } });
    expect(readdirSync(dir)).toEqual([]);
  },
);

test("a run that finds no free file descriptor exits as blocked, and can be started again", async () => {
  const full = Object.assign(new Error("EMFILE: no"), { code: "EMFILE" });
  let isFull = true;
  const runner = aRunner(tempDir(), {
    prepare: (...given) => (isFull ? Promise.reject(full) : Promise.resolve(jobOf(...given))),
  });
  const request = aRequest("true");
  const rejected = "the process has too many open files";
  const blocked = await lastValueFrom(runner.run(request, NEVER));
  expect(blocked).toMatchObject({ exit: { rejected, blocked: true } });
  isFull = false;
  const begun = await lastValueFrom(runner.run(request, NEVER));
  expect(begun).toMatchObject({ exit: { rejected: null, exitCode: 0 } });
});
