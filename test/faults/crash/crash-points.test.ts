import { isLong } from "../../helpers/long.ts";
import { crashOnce } from "./crash-cycle.ts";
import { check, newLane, wholeLife } from "./crash-lane.ts";
import { planAt, points } from "./crash-plan.ts";
import { perFile } from "../../helpers/per-test.ts";

const lane = perFile(newLane, ({ project }) => project.remove());

test.each(points)(
  "a scheduler killed at %s loses nothing that it acknowledged, and the next schedulers finish the work",
  async (point) => {
    await crashOnce(lane(), planAt(point));
    expect(lane().struck.get(point)).toBe(1);
    check(lane());
    // Otherwise the work lives over several crashes.
    if (isLong || point === points.at(-1)) await wholeLife(lane());
  },
  90_000,
);
