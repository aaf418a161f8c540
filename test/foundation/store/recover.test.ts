import fc from "fast-check";
import {
  beginRun,
  callItem,
  cronItem,
  manualItem,
  requestFor,
  succeeded,
  tempStore,
  wholeHistory,
  reopened,
} from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

test("waiting work is restored in order, unchanged", async () => {
  const dir = tempDir();
  const items = ["c", "a", "b"].map((id) => manualItem(id));
  const before = tempStore(dir);
  for (const item of items) await before.work.enqueue([item]);
  before.close();
  const recovered = await tempStore(dir).recover();
  expect(recovered).toEqual({ requeue: items, neverBegun: [], lost: [], adopted: [] });
});

test("a run of a dead scheduler is lost and its work retried once; a second loss is final", async () => {
  const item = manualItem("a");
  const first = tempStore();
  await first.work.enqueue([item, manualItem("later")]);
  await beginRun(first, requestFor(item, "dev-11111111"));

  const second = reopened(first);
  const { requeue, lost } = await second.recover();
  const retry = lost[0]?.retry;
  if (!retry) throw new Error("no retry");
  expect(requeue.map(({ id }) => id)).toEqual([retry.id, "later"]);
  expect(retry).toEqual({ ...item, id: retry.id, attempt: 2 });
  expect(lost[0]).toMatchObject({ item, instanceId: "dev-11111111" });
  await beginRun(second, requestFor(retry, "dev-22222222"));

  const third = reopened(second);
  const final = await third.recover();
  expect(final.lost.map(({ retry }) => retry)).toEqual([null]);
  expect(final.requeue.map(({ id }) => id)).toEqual(["later"]);
  const entries = third.history.query({ ...wholeHistory, outcome: "lost" }).triggers;
  expect(entries).toMatchObject([
    { attempt: 2, deadLetter: true, endedAt: null },
    { attempt: 1, deadLetter: false, endedAt: null },
  ]);
  expect(third.lastRun("dev")).toMatchObject({ outcome: "lost", endedAt: null });
});

test("a live run is known before recovery, adopted by it, and can be ended", async () => {
  const item = manualItem("a");
  const before = tempStore(undefined, () => 77);
  await before.work.enqueue([item]);
  await beginRun(before, requestFor(item, "dev-11111111"));
  const after = reopened(before);
  expect(after.openRuns()).toMatchObject([{ item, instanceId: "dev-11111111" }]);
  const run = { item, instanceId: "dev-11111111", startedAt: 77, waitedMs: 0, leftByStop: false };
  const recovered = await after.recover(new Set(["dev-11111111"]));
  expect(recovered).toEqual({ adopted: [run], lost: [], requeue: [], neverBegun: [] });
  const { instanceId } = run;
  await after.work.end(item, { instanceId, startedAt: 1000, at: 3000, end: succeeded });
  expect(after.openRuns()).toEqual([]);
  const [entry] = after.history.query({ ...wholeHistory, outcome: "succeeded" }).triggers;
  expect(entry).toMatchObject({ durationMs: 2000 });
});

test("runs of a scheduler that was being stopped are interrupted, and wait once more unless a person killed them", async () => {
  const [item, killed] = [manualItem("a"), manualItem("b", "ops")];
  const first = tempStore();
  await first.work.enqueue([item, killed]);
  await beginRun(first, requestFor(item, "dev-11111111"));
  await beginRun(first, requestFor(killed, "ops-22222222"));
  await first.settings.recordStop(Date.now());
  const end = { ...succeeded, outcome: "killed" } as const;
  await first.work.end(killed, { instanceId: "ops-22222222", startedAt: Date.now(), end });

  const second = reopened(first);
  const { requeue, lost } = await second.recover();
  expect(requeue).toMatchObject([{ attempt: 2, trigger: item.trigger }]);
  expect(lost).toMatchObject([{ outcome: "interrupted", item }]);
  expect(second.lastRun("dev")).toMatchObject({ outcome: "interrupted" });
});

test("a waiting call is dropped if its caller is retried, which makes it again", async () => {
  const caller = manualItem("caller", "ops");
  const first = tempStore();
  await first.work.enqueue([caller, callItem("call", { callerInstance: "ops-11111111" })]);
  await first.work.enqueue([callItem("other", { callId: "c2", callerInstance: "ops-22222222" })]);
  await beginRun(first, requestFor(caller, "ops-11111111"));

  const second = reopened(first);
  const { requeue } = await second.recover();
  expect(requeue.map(({ agent, id }) => (agent === "ops" ? "the caller again" : id))).toEqual([
    "the caller again",
    "other",
  ]);
  const [call] = second.history.query({ ...wholeHistory, outcome: "rejected" }).triggers;
  expect(call).toMatchObject({ id: "call", deadLetter: false });
  expect(call?.reason).toContain("makes its calls anew");
});

test.each([manualItem("a"), cronItem("a")])(
  "only a started run costs its work an attempt, however often schedulers die: $trigger.kind",
  async (item) => {
    const lives = fc.array(fc.constantFrom("queued", "claimed", "blocked", "begun"), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(lives, async (ends) => {
        let store = tempStore();
        if (item.trigger.kind === "manual") await store.work.enqueue([item]);
        else await store.work.claim(requestFor(item, "dev-0"));
        let tries = 0;
        for (const [life, end] of ends.entries()) {
          store = reopened(store);
          const [next] = (await store.recover()).requeue;
          expect(next?.attempt).toBe(tries === 2 ? undefined : tries + 1);
          if (next === undefined) return store.close();
          const instanceId = `dev-${life + 1}`;
          const request = requestFor(next, instanceId);
          if (end === "claimed") await store.work.claim(request);
          if (end === "begun" || end === "blocked") await beginRun(store, request);
          if (end === "blocked") await store.work.undoBegin(instanceId);
          if (end === "begun") tries += 1;
        }
        store = reopened(store);
        await store.recover();
        const lost = store.history.query({ ...wholeHistory, outcome: "lost" }).triggers;
        expect(lost.map(({ attempt }) => attempt)).toEqual([2, 1].slice(2 - tries));
        store.close();
      }),
      { numRuns: 12 },
    );
  },
);

test("the claim of a cluster machine begins the run", async () => {
  const first = tempStore();
  const [a, b] = [manualItem("a"), manualItem("b")];
  await first.work.enqueue([a, b]);
  for (const [index, item] of [a, b].entries()) {
    const instanceId = `dev-${index + 1}`;
    await first.work.claim(requestFor(item, instanceId));
    await first.remoteRuns.add({ instanceId, name: instanceId, ticketHash: "0" });
  }
  await first.remoteRuns.claim("dev-2", "claimer", "0");
  const { requeue, lost, neverBegun } = await reopened(first).recover();
  expect(requeue.map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(lost).toMatchObject([{ instanceId: "dev-2" }]);
  expect(neverBegun).toMatchObject([{ instanceId: "dev-1" }]);
});
