import { isLong } from "../../helpers/long.ts";
import { perFile } from "../../helpers/per-test.ts";
import { crashOnce } from "./crash-cycle.ts";
import { check, newLane, wholeLife } from "./crash-lane.ts";
import { planAt, plansBy, points, randomBy } from "./crash-plan.ts";

/**
 * Each crash ends a life of the real, built program: it starts on a project that an earlier one left, accepts
 * deliveries, runs real agent processes, and is ended by SIGKILL at a named point (`kill-points.ts`) or a moment; then
 * the rest is compared with every promise made so far. Work lives over several crashes.
 *
 * `AL_CRASH_ROUNDS` visits all points so often, in a random order; with `AL_CRASH_POINTS=start` all kills strike while
 * runs start. `AL_CRASH_SEED` repeats the points, numbers and orders of a failure; the machine decides how processes
 * interleave.
 */
const rounds = Number(process.env.AL_CRASH_ROUNDS ?? (isLong ? 30 : 0));
const seed = Number(process.env.AL_CRASH_SEED ?? Date.now() % 1_000_000);
const plans = rounds === 0 ? points.map(planAt) : [...plansBy(randomBy(seed), rounds)];
const lane = perFile(newLane, ({ project }) => project.remove());

if (rounds > 0) process.stdout.write(`AL_CRASH_SEED=${seed}\n`);

test.each(plans.map((plan, n) => [plan.point ?? "a moment", n, plan] as const))(
  "a scheduler killed at %s (crash %i) loses nothing that it acknowledged",
  async (_point, _n, plan) => {
    await crashOnce(lane(), plan);
    check(lane());
  },
  90_000,
);

test("the schedulers that were killed at every point leave work that the next scheduler finishes", async () => {
  const { rows } = await wholeLife(lane());
  if (rounds !== 1) expect(points.filter((point) => !lane().struck.has(point))).toEqual([]);
  const succeeded = rows.filter(({ outcome }) => outcome === "succeeded");
  expect(succeeded.length).toBeGreaterThan(plans.length / 10);
}, 90_000);
