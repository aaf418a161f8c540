import { createInbox } from "../../../src/runtime/cluster/remote-process.ts";

const stop = { reason: "timed_out", graceMs: 5 } as const;

test("the inbox of a run keeps its first entry after a reader left", async () => {
  const inbox = createInbox();
  const left = new AbortController();
  const answer = inbox.next(left.signal);
  left.abort();
  expect(await answer).toEqual({ stop: null });
  inbox.stop(stop.reason, stop.graceMs);
  inbox.stop("killed", 1);
  expect(await inbox.next(new AbortController().signal)).toEqual({ stop });
});
