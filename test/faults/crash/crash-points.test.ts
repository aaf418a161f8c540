import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crashOnce } from "./crash-cycle.ts";
import type { Lane } from "./crash-cycle.ts";
import { check, newLane, wholeLife } from "./crash-lane.ts";
import { planAt, points } from "./crash-plan.ts";

let lane: Lane;

beforeAll(async () => {
  lane = await newLane();
});
afterAll(() => lane.project.remove());

describe("a scheduler that is killed", () => {
  it.each(points)(
    "%s: keeps its promises, and the next one does what is left",
    async (point) => {
      await crashOnce(lane, planAt(point));
      expect(lane.struck.get(point)).toBe(1);
      check(lane);
      await wholeLife(lane);
    },
    90_000,
  );
});
