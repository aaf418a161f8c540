import { join } from "node:path";
import { openDatabase } from "../../../src/foundation/store/database.ts";
import { storeFormat } from "../../../src/foundation/store/migrations.ts";
import { ensureStateDir } from "../../../src/foundation/store/state-dir.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import { StartedBefore } from "../../../streams/vocabulary.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { cronItem, reopened, requestFor, succeeded, tempStore, wholeHistory } from "./support.ts";

const slot = (at: number) => ({ schedule: "", at });
const started = (store: Store) => store.slots.started("dev", 0, 1e15);
const history = (store: Store) =>
  store.history
    .query(wholeHistory)
    .triggers.map(({ scheduledFor, outcome }) => [Date.parse(scheduledFor ?? ""), outcome]);

async function endNext(store: Store): Promise<number | null> {
  const item = await store.slots.startNext("dev", (item) => item);
  if (item === null || item.trigger.kind !== "cron") return null;
  const instanceId = `dev-${item.trigger.scheduledFor}`;
  await store.work.claim(requestFor(item, instanceId));
  expect(await store.slots.startNext("dev", (item) => item)).toBe(null);
  await store.work.end(item, { instanceId, startedAt: 1, end: succeeded });
  return item.trigger.scheduledFor;
}

test("a slot starts once: neither another tick nor a backfill starts it again, in this scheduler or the next", async () => {
  const store = tempStore();
  await store.work.keepTick(cronItem("first"));
  await store.work.keepTick(cronItem("first"));
  await expect(store.work.keepTick(cronItem("second"))).rejects.toThrow(StartedBefore);
  const next = reopened(store);
  await expect(next.work.claim(requestFor(cronItem("third")))).rejects.toThrow(StartedBefore);
  expect(await next.slots.backfill("dev", [slot(1_000), slot(2_000)])).toEqual([slot(2_000)]);
  expect(await next.slots.backfill("dev", [slot(2_000)])).toEqual([]);
  await expect(next.work.keepTick(cronItem("tick", "dev", 2_000))).rejects.toThrow(StartedBefore);
});

test("a slot whose tick did not start can be started later", async () => {
  const store = tempStore();
  const item = cronItem("busy");
  await store.work.keepTick(item);
  await store.work.refuse(item, "skipped", "all runners are busy", false);
  expect(started(store)).toEqual([]);
  expect(store.slots.refused("dev", 0)).toEqual([
    { ...slot(1_000), reason: "skipped: all runners are busy" },
  ]);
  expect(await store.slots.backfill("dev", [slot(1_000)])).toEqual([slot(1_000)]);
});

test("a slot whose tick newer work superseded before it started can be started later, with that reason", async () => {
  const store = tempStore();
  const item = cronItem("older");
  await store.work.keepTick(item);
  await store.work.refuse(item, "superseded", "newer work took its place", false);
  expect(store.slots.refused("dev", 0)).toEqual([
    { ...slot(1_000), reason: "superseded: newer work took its place" },
  ]);
  expect(await store.slots.backfill("dev", [slot(1_000)])).toEqual([slot(1_000)]);
});

test("planned slots start one after another, the oldest first, in this scheduler and the next", async () => {
  const store = tempStore();
  await store.slots.catchUp("dev", [slot(3_000), slot(1_000), slot(2_000)]);
  expect(await endNext(store)).toBe(1_000);
  const item = await store.slots.startNext("dev", (item) => item);
  const next = reopened(store);
  expect(next.slots.plannedAgents()).toEqual(["dev"]);
  expect(await next.recover()).toMatchObject({ requeue: [{ id: item?.id }] });
  expect(await next.slots.startNext("dev", (item) => item)).toBe(null);
  expect(next.slots.planned("dev")).toBe(1);
  if (item !== null) await next.work.refuse(item, "rejected", "no agent", false);
  expect(await endNext(next)).toBe(3_000);
  expect(await endNext(next)).toBe(null);
});

test("planned slots that do not start are rows of the history, and can be planned again", async () => {
  const store = tempStore();
  await store.slots.backfill("dev", [slot(1_000), slot(2_000)]);
  expect(await store.slots.cancel("dev", "killed")).toBe(2);
  expect(history(store)).toEqual([
    [2_000, "missed"],
    [1_000, "missed"],
  ]);
  expect(started(store)).toEqual([]);
});

test("a slot is forgotten with its history, and from then on nothing older is known", async () => {
  const dayMs = 86_400_000;
  const store = tempStore();
  for (const at of [10, 50]) {
    const item = cronItem(`of ${at}`, "dev", at * dayMs);
    await store.work.claim(requestFor(item, `dev-${at}`));
    await store.work.end(item, { instanceId: `dev-${at}`, startedAt: 1, end: succeeded });
  }
  await store.prune({ now: 60 * dayMs, days: 30, maxBytes: 1e9 });
  expect(started(store)).toEqual([slot(50 * dayMs)]);
  expect(store.slots.knownSince()).toBe(30 * dayMs);
});

test("the spans of pauses and of a disabled agent last from one switch to the next", async () => {
  let now = 1_000;
  const store = tempStore(tempDir(), () => now);
  const pause = (schedules: boolean) =>
    store.settings.setPause({ schedules, work: false, since: schedules ? now : null });
  await pause(true);
  await store.settings.setDisabled("dev", true);
  await store.settings.setDisabled("ops", true);
  now = 2_000;
  await pause(false);
  const paused = { agent: null, since: 1_000, until: 2_000 };
  const disabled = { agent: "dev", since: 1_000, until: null };
  expect(store.slots.offSpans("dev", 0)).toEqual([paused, disabled]);
  expect(store.slots.offSpans("dev", 2_001)).toEqual([disabled]);
});

test("an older store knows the slots that were started, the pause and the disabled agents", () => {
  const dir = tempDir();
  const path = join(ensureStateDir(dir), "state.db");
  const old = openDatabase(path, { ...storeFormat, steps: storeFormat.steps.slice(0, 3) });
  const tick = JSON.stringify(cronItem("").trigger);
  old.exec(`INSERT INTO triggers (id, at, kind, agent, state, outcome, attempt, trigger) VALUES
      ('a', 1, 'cron', 'dev', 'ended', 'failed', 1, '${tick}'),
      ('b', 2, 'cron', 'dev', 'ended', 'succeeded', 2, '${tick}'),
      ('c', 3, 'cron', 'ops', 'ended', 'skipped', 1, '${tick}');
    INSERT INTO settings VALUES ('paused', 'true'), ('paused_since', '7');
    INSERT INTO disabled_agents VALUES ('dev')`);
  old.close();
  const format = openDatabase(path, storeFormat);
  const rows = (sql: string) => format.prepare(sql).all().map(Object.values);
  expect(rows("SELECT agent, at, trigger_id FROM slots")).toEqual([["dev", 1_000, "a"]]);
  expect(rows("SELECT agent, since > 6 FROM off_spans")).toEqual([
    ["", 1],
    ["dev", 1],
  ]);
  format.close();
});
