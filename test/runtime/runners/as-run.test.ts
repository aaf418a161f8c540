import { once } from "node:events";
import { lastValueFrom, NEVER, toArray } from "rxjs";
import { asRun, type RunSubscriber } from "../../../src/runtime/runners/as-run.ts";
import { exitWith } from "../../helpers/stream-runner.ts";

const good = exitWith();
const bad = exitWith({ exitCode: null, error: "broken" });
const eventsOf = (work: (subscriber: RunSubscriber) => Promise<void>) =>
  lastValueFrom(asRun(NEVER, work, () => bad).pipe(toArray()));

test("asRun emits an exit event if the work fails", async () =>
  expect(await eventsOf(() => Promise.reject(new Error("no")))).toEqual([bad]));

test("asRun emits a warning if the work fails after the exit event", async () => {
  const warned = once(process, "warning") as Promise<[Error]>;
  const events = await eventsOf(({ emit }) => {
    emit(good);
    return Promise.reject(new Error("EROFS"));
  });
  expect(events).toEqual([good]);
  expect((await warned)[0].message).toMatch(/EROFS/);
});
