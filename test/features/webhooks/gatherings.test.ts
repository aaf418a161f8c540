import { Subject } from "rxjs";
import { VirtualCalendar } from "../../helpers/marbles.ts";
import { createClock } from "../../../streams/clock.ts";
import type { Debounce } from "../../../streams/agent-config.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { createGatherings } from "../../../src/features/webhooks/gatherings.ts";
import { tempStore, webhookItem } from "../../foundation/store/support.ts";

const debounce: Debounce = { key: null, quietMs: 5_000, mostMs: 60_000, deliver: "all" };
const start = Date.parse("2026-05-04T09:00:00Z");

/** Gatherings of the agent `dev` over a store, with a clock of its own. */
function setUp(config: Debounce | null = debounce) {
  const calendar = new VirtualCalendar("2026-05-04T09:00:00Z");
  const store = tempStore(undefined, () => calendar.now());
  const stopping$ = new Subject<void>();
  const [warned, dispatched, events]: [string[], WorkItem[], RunEvent[]] = [[], [], []];
  const context = {
    store,
    status: {
      agent: () => ({ removed: false, config: { debounce: config } }),
      apply: () => undefined,
    },
    clock: createClock(calendar),
    inputs: { stopping$ },
    dispatch: (items: readonly WorkItem[]) => dispatched.push(...items),
    warn: (line: string) => warned.push(line),
  } as unknown as Parameters<typeof createGatherings>[0];
  const gatherings = createGatherings(context);
  const subscription = gatherings.event$.subscribe((event) => events.push(event));
  onTestFinished(() => subscription.unsubscribe());
  const gather = async (id: string, at = calendar.now()): Promise<void> => {
    const item = webhookItem(`w-${id}`, id, "dev", at);
    const options = gatherings.gatheringOf("dev", item.trigger);
    if (options === null) throw new Error(`${id} does not gather`);
    const from = { source: "gh", type: "github", deliveryId: id, headers: {}, reason: null };
    const receipt = { id, at, body: Buffer.from(id), matched: ["dev"], ...from };
    const more = { taken: [], deadLetters: [], gatherings: new Map([["dev", options]]) };
    const accepted = await store.receipts.accept({ receipt, items: [item], ...more });
    if (!accepted.duplicate) gatherings.gathers(accepted.gathering);
  };
  const until = async (seconds: number): Promise<void> => {
    calendar.runUntil(new Date(start + seconds * 1000).toISOString());
    await store.waitingWork.committed();
  };
  return { calendar, stopping$, gatherings, gather, until, warned, dispatched, events };
}

describe("gatherings", () => {
  test("dispatch one item when it is due, and report the gathering deliveries until then", async () => {
    const { gather, until, dispatched, events } = setUp();
    await gather("r1");
    await until(3);
    await gather("r2");
    await until(7);
    expect(dispatched).toEqual([]);
    await until(8);
    expect(dispatched).toMatchObject([{ id: "w-r2", gathered: ["r1", "r2"] }]);
    const reported = events.map((event) => event.type === "gathering" && event.gathering);
    expect(reported).toEqual([
      { deliveries: 1, startsAt: start + 5_000 },
      { deliveries: 2, startsAt: start + 8_000 },
      null,
    ]);
  });

  test("start nothing once the scheduler stops", async () => {
    const { gather, until, stopping$, dispatched } = setUp();
    await gather("r1");
    stopping$.next();
    await until(60);
    expect(dispatched).toEqual([]);
  });

  test("refuse the oldest delivery as dropped when there are too many for one run", async () => {
    const { gather, events } = setUp();
    for (let n = 0; n <= 100; n += 1) await gather(`r${n}`);
    const refused = events.filter((event) => event.type === "refused");
    expect(refused).toMatchObject([{ outcome: "dropped", item: { id: "w-r0" } }]);
  });

  test("wait no longer than `most` when the clock is set back", async () => {
    const { calendar, gather, until, dispatched } = setUp();
    await gather("r1");
    calendar.jump(-3_000_000);
    await until(-3_000 + 40);
    expect(dispatched).toHaveLength(1);
  });

  test("leave a delivery without a key to its own run, and warn once", () => {
    const { gatherings, warned } = setUp({ ...debounce, key: "{branch}" });
    const { trigger } = webhookItem("w", "r");
    expect([1, 2].map(() => gatherings.gatheringOf("dev", trigger))).toEqual([null, null]);
    expect(warned).toEqual([
      "agent dev: a delivery lacks an attribute of debounce.key {branch} and starts its own run",
    ]);
  });
});
