import type { HeldLock } from "../../../../src/foundation/contracts/run-state.ts";
import fc from "fast-check";
import { createClock } from "../../../../streams/clock.ts";
import { drive } from "../../../../src/foundation/drive.ts";
import type * as events from "../../../../src/runtime/runs/rules/locks.ts";
import { createLocks } from "../../../../src/runtime/runs/rules/locks.ts";
import { createWaitGraph } from "../../../../src/runtime/runs/rules/wait-graph.ts";
import { VirtualCalendar } from "../../../helpers/marbles.ts";

type LockCommand = events.LockCommand<string>;
type LockEvent = events.LockEvent<string>;

const holders = 50;
const operations = 10_000;

/** One thing that one of the holders does with one of a few resources, and how long nothing happens after it. */
const operation = fc.record({
  holder: fc.integer({ min: 1, max: holders }),
  resource: fc.integer({ min: 1, max: 8 }),
  what: fc.constantFrom("acquire", "acquire", "acquire", "release", "heartbeat", "cancel", "end"),
  ttlMs: fc.integer({ min: 1, max: 400 }),
  waitMs: fc.integer({ min: 0, max: 300 }),
  pauseMs: fc.integer({ min: 0, max: 6 }),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** `last` names the last `acquire` of the holder. */
function commandOf(done: Operation, request: string, last: string): LockCommand {
  const { what, ttlMs, waitMs } = done;
  const own = { request, instanceId: `x-${done.holder}`, resource: `file:${done.resource}` };
  if (what === "acquire") return { type: what, agent: "x", ...own, ttlMs, waitMs };
  if (what === "heartbeat") return { type: what, ...own, ttlMs };
  if (what === "release") return { type: what, ...own };
  return what === "cancel" ? { type: what, request: last } : { type: "ended", ...own };
}

/** Believes nothing but the events: who holds what by them. */
function createWitness(now: () => number) {
  const held = new Map<string, HeldLock>();
  let highest = 0;
  const granted = (lock: HeldLock): void => {
    const before = held.get(lock.resource);
    if (before === undefined) {
      expect(lock.fencingToken).toBeGreaterThan(highest);
      highest = lock.fencingToken;
    } else {
      expect(lock).toMatchObject({ instanceId: before.instanceId, heldSince: before.heldSince });
      expect(lock.fencingToken).toBe(before.fencingToken);
      expect(lock.expiresAt).toBeGreaterThanOrEqual(before.expiresAt);
    }
    expect(lock.expiresAt).toBeGreaterThan(now());
    held.set(lock.resource, lock);
  };
  return {
    held,
    see: (event: LockEvent): void => {
      if (event.type === "granted" || event.type === "extended") granted(event.lock);
      if (event.type !== "released") return;
      expect(held.get(event.lock.resource)).toEqual(event.lock);
      if (event.why === "expired") expect(now()).toBeGreaterThanOrEqual(event.lock.expiresAt);
      held.delete(event.lock.resource);
    },
  };
}

test("after 10,000 random operations of 50 holders no lock ever had two holders, and no holder waits forever", () => {
  const operation$ = fc.array(operation, { minLength: operations, maxLength: operations });
  fc.assert(
    fc.property(operation$, (all) => {
      const calendar = new VirtualCalendar("1970-01-01T00:00:00Z");
      const witness = createWitness(() => calendar.now());
      let waiting = new Map<string, string>();
      const counts = { granted: 0, released: 0, waiting: 0, extended: 0, refused: 0 };
      const locks = createLocks<string>({ graph: createWaitGraph(), held: [], lastToken: 0 });
      const driver = drive(locks, createClock(calendar), (event) => {
        witness.see(event);
        counts[event.type]++;
        if (event.type !== "waiting" && event.request !== null) waiting.delete(event.request);
      });
      const last = new Map<number, string>();
      for (const [n, done] of all.entries()) {
        const command = commandOf(done, `${n}`, last.get(done.holder) ?? "");
        if (command.type === "acquire") {
          waiting.set(command.request, command.instanceId);
          last.set(done.holder, command.request);
        }
        if (command.type === "cancel") waiting.delete(command.request);
        if (command.type === "ended")
          waiting = new Map([...waiting].filter(([, id]) => id !== command.instanceId));
        driver.apply(command);
        calendar.runUntil(new Date(calendar.now() + done.pauseMs).toISOString());
      }
      calendar.runUntil(new Date(calendar.now() + 1_000).toISOString());
      expect([...waiting]).toEqual([]);
      expect([...witness.held]).toEqual([]);
      // Otherwise nothing was shown.
      for (const count of Object.values(counts)) expect(count).toBeGreaterThan(10);
    }),
    // The shorter case that shrinking looks for is not worth its time.
    { numRuns: 3, endOnFailure: true },
  );
});
