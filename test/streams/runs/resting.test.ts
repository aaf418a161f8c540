import { describe, expect, it } from "vitest";
import { createPlaces } from "../../../streams/runs/places.ts";
import { createResting } from "../../../streams/runs/resting.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";

function aLife(places = createPlaces(1)) {
  let time = 1_000;
  const resting = createResting(() => time);
  const request = { instanceId: "dev-1", agent: anAgent("dev"), item: anItem("1") };
  const life = resting.enter({ request, place: places.tryTake(), waitedMs: 100 });
  const seen: boolean[] = [];
  life.standing$.subscribe((standing) => seen.push(standing));
  return { places, resting, request, life, seen, pass: (ms: number) => (time += ms) };
}

describe("a run that lives", () => {
  it("is known until it ends", () => {
    const { resting, request, life } = aLife();
    expect(resting.of("dev-1")).toBe(request);
    life.end();
    expect(resting.of("dev-1")).toBeUndefined();
    expect(resting.waitedMs("dev-1")).toBe(0);
    expect(() => resting.rest("dev-1", true)(() => undefined)).not.toThrow();
  });

  it("has its clock stand while it waits, and its place lent", () => {
    const { places, resting, seen, pass } = aLife();
    const goOn = resting.rest("dev-1", true);
    pass(30);
    expect(resting.waitedMs("dev-1")).toBe(130);
    const other = places.tryTake();
    expect(other).not.toBeNull();
    let back = false;
    goOn(() => (back = true));
    pass(5);
    expect(back).toBe(false);
    other?.release();
    expect(back).toBe(true);
    pass(50);
    expect(resting.waitedMs("dev-1")).toBe(135);
    expect(seen).toEqual([false, true, false]);
  });

  it("has its clock go on while it waits for what is its own time", () => {
    const { places, resting, seen } = aLife();
    resting.rest("dev-1", false);
    expect(places.tryTake()).not.toBeNull();
    expect(seen).toEqual([false]);
  });

  it("counts once what it waited for at the same time", () => {
    const { resting, seen, pass } = aLife();
    const [one, two] = [resting.rest("dev-1", true), resting.rest("dev-1", true)];
    pass(10);
    one(() => undefined);
    pass(10);
    two(() => undefined);
    expect(resting.waitedMs("dev-1")).toBe(120);
    expect(seen).toEqual([false, true, false]);
  });
});
