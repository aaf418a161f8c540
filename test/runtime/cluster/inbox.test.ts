import { createInbox } from "../../../src/runtime/cluster/remote-process.ts";

const stop = { reason: "timed_out", graceMs: 5 } as const;
const never = new AbortController().signal;

describe("the inbox of a run", () => {
  test("answers as soon as the run is to end, with the first reason", async () => {
    const inbox = createInbox();
    const answer = inbox.next(never);
    inbox.stop(stop.reason, stop.graceMs);
    inbox.stop("killed", 1);
    expect(await answer).toEqual({ stop });
  });

  test("keeps an entry whose reader left", async () => {
    const inbox = createInbox();
    const left = new AbortController();
    const answer = inbox.next(left.signal);
    left.abort();
    expect(await answer).toEqual({ stop: null });
    inbox.stop(stop.reason, stop.graceMs);
    expect(await inbox.next(never)).toEqual({ stop });
  });
});
