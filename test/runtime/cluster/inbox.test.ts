import { createInbox } from "../../../src/runtime/cluster/remote-process.ts";

const stop = { reason: "timed_out", graceMs: 5 } as const;

test("the inbox answers as soon as the run is to end", async () => {
  const inbox = createInbox();
  const answer = inbox.next(new AbortController().signal);
  inbox.stop(stop.reason, stop.graceMs);
  inbox.stop("killed", 1);
  expect(await answer).toEqual({ stop });
});

test("the inbox answers at once when the run was stopped before", async () => {
  const inbox = createInbox();
  inbox.stop(stop.reason, stop.graceMs);
  expect(await inbox.next(new AbortController().signal)).toEqual({ stop });
});

test("the inbox keeps an entry whose reader left", async () => {
  const inbox = createInbox();
  const left = new AbortController();
  const answer = inbox.next(left.signal);
  left.abort();
  expect(await answer).toEqual({ stop: null });
  inbox.stop(stop.reason, stop.graceMs);
  expect(await inbox.next(new AbortController().signal)).toEqual({ stop });
});
