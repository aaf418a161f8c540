import { isLong } from "../../helpers/long.ts";
import { perFile } from "../../helpers/per-test.ts";
import { crashOnce } from "./crash-cycle.ts";
import { check, newLane, wholeLife } from "./crash-lane.ts";
import { killPoints, type KillPoint } from "./kill-points.ts";

/**
 * Each crash ends a life of the real, built program: it starts on a project that an earlier one left, accepts
 * deliveries, runs real agent processes, and is ended by SIGKILL at a named point (`kill-points.ts`); then the rest is
 * compared with every promise made so far. Work lives over several crashes. `AL_CRASH_ROUNDS` visits all points so often.
 */
const rounds = Number(process.env.AL_CRASH_ROUNDS ?? (isLong ? 40 : 1));
const all = Object.keys(killPoints) as readonly KillPoint[];
const points = all.filter((point) => !["gathered", "kept"].includes(killPoints[point].is));
const crashes = Array.from({ length: rounds }, (_, round) =>
  points.map(
    (point) => [point, killPoints[point].is === "repeated" ? 1 + (round % 2) : 1] as const,
  ),
).flat();
const lane = perFile(newLane, ({ project }) => project.remove());

test.each(crashes)(
  "a scheduler killed at %s (time %i) loses nothing that it acknowledged",
  async (point, nth) => {
    await crashOnce(lane(), { point, nth });
    check(lane());
  },
  90_000,
);

test("the schedulers that were killed at every point leave work that the next scheduler finishes", async () => {
  const { rows } = await wholeLife(lane());
  expect(points.filter((point) => !lane().struck.has(point))).toEqual([]);
  const succeeded = rows.filter(({ outcome }) => outcome === "succeeded");
  expect(succeeded.length).toBeGreaterThan(crashes.length / 10);
}, 90_000);
