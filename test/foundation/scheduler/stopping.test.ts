import { closeAll, createStopping } from "../../../src/foundation/scheduler/stopping.ts";

test("a failing step of the scheduler's stop is logged, and the other steps run in order", async () => {
  const taken: string[] = [];
  const problems: unknown[] = [];
  const broken = new Error("disk full");
  await closeAll(
    [
      () => Promise.reject(broken),
      () => void taken.push("logs"),
      () => {
        throw broken;
      },
      () => void taken.push("lock"),
    ],
    (error) => problems.push(error),
  );
  expect(taken).toEqual(["logs", "lock"]);
  expect(problems).toEqual([broken, broken]);
});

test("a stopped scheduler does not log further requests to stop", () => {
  const log = vi.fn();
  const ignored = () => undefined;
  const stopping = createStopping({
    stopping$: { next: ignored },
    kill$: { next: ignored },
    graceMs: 0,
    endsRunsAs: "killed",
    log,
    running: () => 0,
    begin: ignored,
    abort: ignored,
  });
  stopping.done();
  stopping.stopNow("interrupted again");
  stopping.stop("SIGTERM");
  expect(log).not.toHaveBeenCalled();
});
