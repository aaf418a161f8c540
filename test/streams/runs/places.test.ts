import { describe, expect, it } from "vitest";
import { createPlaces } from "../../../streams/runs/places.ts";

describe("the places of a project", () => {
  it("are without limit when none is set", () => {
    const places = createPlaces();
    expect(Array.from({ length: 1000 }, () => places.tryTake())).not.toContain(false);
  });

  it("refuse when all are taken, and go on after a release", () => {
    const places = createPlaces(1);
    expect([places.tryTake(), places.tryTake()]).toEqual([true, false]);
    places.release();
    expect(places.tryTake()).toBe(true);
  });

  it("are offered in the order of asking, and nobody slips in before who waits", () => {
    const places = createPlaces(1);
    places.tryTake();
    const order: string[] = [];
    const taker = (name: string) => () => {
      if (places.tryTake()) order.push(name);
    };
    places.wait(taker("a"));
    places.wait(taker("b"));
    places.release();
    expect(order).toEqual(["a"]);
    places.release();
    expect(order).toEqual(["a", "b"]);
    places.wait(taker("c"));
    expect(places.tryTake()).toBe(false);
  });

  it("pass over who stopped waiting and who no longer wants one", () => {
    const places = createPlaces(1);
    places.tryTake();
    const order: string[] = [];
    const leave = places.wait(() => order.push("left"));
    places.wait(() => order.push("declined"));
    places.wait(() => places.tryTake() && order.push("took"));
    leave();
    places.release();
    expect(order).toEqual(["declined", "took"]);
  });

  it("grow at once, and shrink without touching who is there", () => {
    const places = createPlaces(1);
    places.tryTake();
    let took = false;
    places.wait(() => (took = places.tryTake()));
    places.resize(2);
    expect(took).toBe(true);
    places.resize(1);
    places.release();
    expect(places.tryTake()).toBe(false);
    places.release();
    expect(places.tryTake()).toBe(true);
  });
});
