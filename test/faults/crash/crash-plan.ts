import { killPoints, type KillPoint } from "./kill-points.ts";

/** The acts of one cycle, chosen by the seed alone. */
export interface CrashPlan {
  /** Null: killed at a moment, not at a point. */
  readonly point: KillPoint | null;
  /** The kill is at the nth time that the point is reached. */
  readonly nth: number;
  /** When it is killed if it does not come to the point, in ms after it is ready. */
  readonly latestMs: number;
  /** What is sent to each agent by webhook, and to the worker by hand. */
  readonly deliveries: { readonly worker: number; readonly locker: number };
  readonly manual: number;
  /** Whether the runs' processes are killed as well. */
  readonly endsRuns: boolean;
}

/** Numbers in [0, 1) that a seed decides (mulberry32). */
export function randomBy(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Trait = "start" | "slow" | "repeated" | "crowded";
const isA = (point: KillPoint, trait: Trait): boolean =>
  killPoints[point].is.split(" ").includes(trait);
const all = Object.keys(killPoints) as readonly KillPoint[];
const onlyStarts = process.env.AL_CRASH_POINTS === "start";
/** Every named point; with `AL_CRASH_POINTS=start` those of a run's start alone. */
export const points = all.filter((point) => !onlyStarts || isA(point, "start"));
/** Kills at a moment, in each round of the points. */
const momentsPerRound = onlyStarts ? 3 : 9;

/** The plans of a chain of crashes, in rounds that visit every point, and some moments, in an order of their own. */
export function* plansBy(random: () => number, rounds: number): Generator<CrashPlan, void> {
  const below = (n: number): number => Math.floor(random() * n);
  const moments = Array.from({ length: momentsPerRound }, () => null);
  for (let n = 0; n < rounds; n += 1) {
    const round = [...points, ...moments].map((point) => ({ point, place: random() }));
    for (const { point } of round.toSorted((a, b) => a.place - b.place)) {
      const chosen = {
        nth: 1 + below(2),
        latestMs: below(500),
        worker: 1 + below(3),
        manual: below(4),
        locker: below(2),
      };
      yield { ...planFor(point, chosen), endsRuns: below(4) === 0 };
    }
  }
}

/** A crash at a point, the first time that it is reached. */
export function planAt(point: KillPoint): CrashPlan {
  const chosen = { nth: 1, latestMs: 0, worker: 2, manual: 0, locker: 1 };
  return { ...planFor(point, chosen), latestMs: 15_000 };
}

type Chosen = Readonly<Record<"nth" | "latestMs" | "worker" | "manual" | "locker", number>>;

function planFor(point: KillPoint | null, chosen: Chosen): CrashPlan {
  const { nth, latestMs, worker, manual, locker } = chosen;
  const deliveries = { worker, locker };
  const acts = { point, deliveries, manual: Number(manual === 0), endsRuns: false };
  if (point === null) return { ...acts, nth: 1, latestMs };
  if (isA(point, "slow"))
    return { ...acts, nth: 1, latestMs: 3000, deliveries: { worker, locker: 1 } };
  if (isA(point, "crowded")) deliveries.worker = 10;
  return { ...acts, nth: isA(point, "repeated") ? nth : 1, latestMs: 3000 };
}
