import type { RunApiRequest } from "../../../src/runtime/run-api/protocol.ts";
import { createPendingRequests } from "../../../src/runtime/runs/pending-requests.ts";
import type { PendingRequest } from "../../../src/runtime/runs/pending-requests.ts";

function aRequest(more: Partial<RunApiRequest<"lock">> = {}): RunApiRequest {
  const { signal } = new AbortController();
  const request = { resource: "file:x" };
  return { instanceId: "a-1", ability: "lock", key: "k", request, signal, ...more };
}

/** Requests of a run whose slot is free again when `free` is called. */
function setUp() {
  const begun: PendingRequest<number>[] = [];
  const happened: string[] = [];
  const waiting: (() => void)[] = [];
  const timers: (() => void)[] = [];
  const requests = createPendingRequests(
    ({ text }) => {
      happened.push(text);
      return (ready) => void waiting.push(ready);
    },
    (_ms, action) => {
      timers.push(action);
      return () => void timers.splice(timers.indexOf(action), 1);
    },
    () => undefined,
  );
  const begin = (pending: PendingRequest<number>) => {
    begun.push(pending);
    return () => void happened.push(`cancelled ${pending.id}`);
  };
  const ask = (request: RunApiRequest, graceMs = 0): Promise<number> =>
    requests.ask(request, begin, graceMs);
  const free = (): void => {
    for (const ready of waiting.splice(0)) ready();
  };
  return { begun, happened, requests, begin, ask, free, timers };
}

const id = "a-1/lock/k";
const turns = () => new Promise((resolve) => setImmediate(resolve, "nothing yet"));

test("a pending request that is repeated is begun once, and both are answered", async () => {
  const { begun, ask } = setUp();
  const both = [ask(aRequest()), ask(aRequest())];
  begun[0]?.answer(7);
  expect(await Promise.all(both)).toEqual([7, 7]);
  expect(begun.map((one) => one.id)).toEqual([id]);
});

test("a pending request is separate if its key differs, and rejected if only its body differs", async () => {
  const { begun, ask } = setUp();
  void ask(aRequest());
  void ask(aRequest({ key: "l" }));
  expect(begun).toHaveLength(2);
  const other = ask(aRequest({ request: { resource: "file:y" } }));
  await expect(other).rejects.toThrow("another request");
});

test("a pending request is cancelled when the last connection that waits for it closes", () => {
  const { happened, ask } = setUp();
  const [one, two] = [new AbortController(), new AbortController()];
  for (const { signal } of [one, two]) void ask(aRequest({ signal }));
  one.abort();
  expect(happened).toEqual([]);
  two.abort();
  expect(happened).toEqual([`cancelled ${id}`]);
});

test("a pending request is cancelled at once if its connection closed before it was begun", () => {
  const { happened, ask } = setUp();
  void ask(aRequest({ signal: AbortSignal.abort() }));
  expect(happened).toEqual([`cancelled ${id}`]);
});

test("a pending request with a grace period is cancelled after it, unless the run repeats it or has ended", () => {
  const { happened, requests, ask, timers } = setUp();
  void ask(aRequest({ signal: AbortSignal.abort() }), 5);
  const [passes] = timers;
  const again = new AbortController();
  void ask(aRequest({ signal: again.signal }), 5);
  passes?.();
  expect(happened).toEqual([]);
  again.abort();
  expect(timers).toHaveLength(1);
  timers[0]?.();
  expect(happened).toEqual([`cancelled ${id}`]);
  requests.stop();
  expect(timers).toEqual([]);
});

test("a pending request of an earlier scheduler is not begun again when it is repeated", async () => {
  const { begun, requests, begin, ask } = setUp();
  requests.expect(id, begin);
  const repeated = ask(aRequest());
  begun[0]?.answer(8);
  expect(await repeated).toBe(8);
  expect(begun).toHaveLength(1);
});

test("a pending request of a suspended run is answered once that has a slot, and at once if it kept its slot", async () => {
  const { begun, happened, ask, free } = setUp();
  const [kept, suspended] = [ask(aRequest()), ask(aRequest({ key: "l" }))];
  begun[1]?.suspend({ pausesClock: false, text: "waits" });
  begun[0]?.answer(1);
  begun[1]?.answer(2);
  expect(await kept).toBe(1);
  expect(await Promise.race([suspended, turns()])).toBe("nothing yet");
  free();
  expect(await suspended).toBe(2);
  expect(happened).toEqual(["waits"]);
});

test("a pending request that is abandoned is rejected at once, so that it can be repeated", async () => {
  const { begun, ask, free } = setUp();
  const first = ask(aRequest());
  begun[0]?.suspend({ pausesClock: false, text: "waits" });
  begun[0]?.abandon();
  await expect(first).rejects.toThrow("no longer waits");
  const again = ask(aRequest());
  free();
  begun[0]?.answer(3);
  begun[1]?.answer(4);
  expect(await again).toBe(4);
});

test("a pending request of a run that has ended is rejected without a slot, and never answered", async () => {
  const { begun, requests, ask, free } = setUp();
  const own = ask(aRequest());
  begun[0]?.suspend({ pausesClock: false, text: "waits" });
  begun[0]?.answer(1);
  requests.refuseAll(new Error("over"));
  free();
  await expect(own).rejects.toThrow("over");
});
