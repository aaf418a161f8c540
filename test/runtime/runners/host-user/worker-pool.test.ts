import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type {
  PrewarmedWorker,
  WorkerKind,
} from "../../../../src/runtime/runners/host-user/prewarmed-worker.ts";
import { createWorkerPool } from "../../../../src/runtime/runners/host-user/worker-pool.ts";

const times = {
  ...{ restMs: 1000, staggerMs: 200, retryMs: 1000, longestRetryMs: 8000, provenMs: 60_000 },
};

interface FakeKeeper extends PrewarmedWorker {
  readonly user: string;
  readonly die: () => void;
  good: boolean;
  ended: boolean;
}

let started: FakeKeeper[];
let cannotStart: boolean;

function aKeeper(user: string): FakeKeeper {
  const gone = Promise.withResolvers<undefined>();
  const worker: Omit<FakeKeeper, "child"> = {
    ...{ user, mark: "m", process: { pid: 1, start: "1" }, good: true, ended: false },
    over: gone.promise,
    die: () => gone.resolve(undefined),
    isGood: () => worker.good,
    claim: () => 0,
    end: () => (worker.ended = true),
  };
  return worker as FakeKeeper;
}

const open = (...users: readonly string[]) =>
  users.map((user): WorkerKind => ({ user, network: "open" }));
const aPool = () =>
  createWorkerPool({
    ...times,
    start: ({ user, network }) => {
      if (cannotStart) return Promise.reject(new Error("no"));
      const worker = aKeeper(network === "open" ? user : `${network} ${user}`);
      started.push(worker);
      return Promise.resolve(worker);
    },
  });
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const users = () => started.filter(({ ended }) => !ended).map(({ user }) => user);

beforeEach(() => {
  vi.useFakeTimers();
  [started, cannotStart] = [[], false];
});
afterEach(() => vi.useRealTimers());

describe("a pool of workers", () => {
  it("starts one after the other for each user, and none at 0", async () => {
    const pool = aPool();
    pool.keep(open("a", "b"), 0);
    await pass(5000);
    expect(users()).toEqual([]);
    pool.keep(open("a", "b"), 2);
    await pass(0);
    expect(users()).toEqual(["a", "b"]);
    await pass(5000);
    expect(users()).toEqual(["a", "b", "a", "b"]);
  });

  it("hands each out once, and starts the next when that run has begun", async () => {
    const pool = aPool();
    pool.keep(open("a"), 1);
    await pass(0);
    expect(pool.take({ user: "b", network: "open" })).toBeNull();
    expect(pool.take({ user: "a", network: "open" })).toBe(started[0]);
    expect(pool.take({ user: "a", network: "open" })).toBeNull();
    await pass(900);
    expect(started).toHaveLength(1);
    await pass(200);
    expect(pool.take({ user: "a", network: "open" })).toBe(started[1]);
  });

  it("keeps those with a closed network and those with an open one apart", async () => {
    const pool = aPool();
    pool.keep(
      [
        { user: "a", network: "closed" },
        { user: "a", network: "open" },
      ],
      1,
    );
    await pass(300);
    expect(users()).toEqual(["closed a", "a"]);
    expect(pool.take({ user: "a", network: "closed-if-possible" })).toBeNull();
    expect(pool.take({ user: "a", network: "closed" })).toBe(started[0]);
    expect(pool.take({ user: "a", network: "closed" })).toBeNull();
  });

  it("hands out none that is dead or of another program, and starts a new one", async () => {
    const pool = aPool();
    pool.keep(open("a"), 1);
    await pass(0);
    for (const worker of started) worker.good = false;
    expect(pool.take({ user: "a", network: "open" })).toBeNull();
    expect(started[0]?.ended).toBe(true);
    await pass(1100);
    expect(pool.take({ user: "a", network: "open" })).toBe(started[1]);
  });

  it("ends those of a user that is wanted no more, and those that are too many", async () => {
    const pool = aPool();
    pool.keep(open("a", "b"), 2);
    await pass(1000);
    pool.keep(open("a"), 1);
    expect(users()).toEqual(["a"]);
    await pass(5000);
    expect(users()).toEqual(["a"]);
  });

  it("replaces one that ended ever later while they end soon, as if it could not be started", async () => {
    const pool = aPool();
    pool.keep(open("a"), 1);
    await pass(0);
    for (const wait of [1000, 2000, 4000, 8000, 8000]) {
      const count = started.length;
      started.at(-1)?.die();
      await pass(wait - 10);
      expect(started).toHaveLength(count);
      await pass(20);
      expect(started).toHaveLength(count + 1);
    }
    await pass(70_000);
    started.at(-1)?.die();
    await pass(1010);
    expect(users()).toHaveLength(1);
  });

  it("tries again, ever later, what can't be started", async () => {
    const pool = aPool();
    cannotStart = true;
    pool.keep(open("a"), 1);
    await pass(2500);
    cannotStart = false;
    await pass(400);
    expect(started).toEqual([]);
    await pass(200);
    expect(users()).toEqual(["a"]);
  });
});
