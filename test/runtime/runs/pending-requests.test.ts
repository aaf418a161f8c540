import type { RunApiRequest } from "../../../src/runtime/wire/protocol.ts";
import { createPendingRequests } from "../../../src/runtime/runs/pending-requests.ts";
import type { PendingRequest } from "../../../src/runtime/runs/pending-requests.ts";

function setUp() {
  const begun: PendingRequest<number>[] = [];
  const cancelled: string[] = [];
  const timers: (() => void)[] = [];
  let ready = (): void => undefined;
  const requests = createPendingRequests(
    () => (resumed) => void (ready = resumed),
    (_ms, action) => {
      timers.push(action);
      return () => void timers.splice(timers.indexOf(action), 1);
    },
    () => undefined,
  );
  const begin = (pending: PendingRequest<number>) => {
    begun.push(pending);
    return () => void cancelled.push(pending.id);
  };
  const ask = (more: Partial<RunApiRequest<"lock">> = {}, graceMs = 0): Promise<number> => {
    const { signal } = new AbortController();
    const request = { resource: "file:x" };
    const asked: RunApiRequest<"lock"> = {
      instanceId: "a-1",
      ability: "lock",
      key: "k",
      request,
      signal,
    };
    return requests.ask({ ...asked, ...more }, begin, graceMs);
  };
  /** The run has its slot again. */
  const free = (): void => ready();
  return { begun, cancelled, requests, ask, free, timers };
}

const id = "a-1/lock/k";

test("a run's request with another idempotency key is separate; one with the same key and another body is rejected", async () => {
  const { begun, ask } = setUp();
  void ask();
  void ask({ key: "l" });
  expect(begun).toHaveLength(2);
  const other = ask({ request: { resource: "file:y" } });
  await expect(other).rejects.toThrow("Another request");
});

test("a run's pending request is cancelled when the last connection that waits for it closes", () => {
  const { cancelled, ask } = setUp();
  const [one, two] = [new AbortController(), new AbortController()];
  for (const { signal } of [one, two]) void ask({ signal });
  one.abort();
  expect(cancelled).toEqual([]);
  two.abort();
  expect(cancelled).toEqual([id]);
});

test("a run's pending request is cancelled some time after its connection is lost, unless the run repeats it", () => {
  const { cancelled, requests, ask, timers } = setUp();
  void ask({ signal: AbortSignal.abort() }, 5);
  const [first] = timers;
  const again = new AbortController();
  void ask({ signal: again.signal }, 5);
  first?.();
  expect(cancelled).toEqual([]);
  again.abort();
  expect(timers).toHaveLength(1);
  timers[0]?.();
  expect(cancelled).toEqual([id]);
  requests.stop();
  expect(timers).toEqual([]);
});

test("a pending request is rejected without waiting for a slot if its run has ended", async () => {
  const { begun, requests, ask, free } = setUp();
  const own = ask();
  begun[0]?.suspend({ pausesClock: false, text: "waits" });
  begun[0]?.answer(1);
  requests.refuseAll(new Error("over"));
  free();
  await expect(own).rejects.toThrow("over");
});
