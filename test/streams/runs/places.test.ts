import { describe, expect, it } from "vitest";
import { createPlaces } from "../../../streams/runs/places.ts";
import type { Place, Places } from "../../../streams/runs/places.ts";

function take(places: Places): Place {
  const place = places.tryTake();
  if (place === null) throw new Error("no place is free");
  return place;
}

describe("the places of a project", () => {
  it("are without limit when none is set", () => {
    const places = createPlaces();
    expect(Array.from({ length: 1000 }, () => places.tryTake())).not.toContain(null);
  });

  it("refuse when all are taken, and go on after a release", () => {
    const places = createPlaces(1);
    const place = take(places);
    expect(places.tryTake()).toBeNull();
    place.release();
    expect(places.tryTake()).not.toBeNull();
  });

  it("are offered in the order of asking, and nobody slips in before who waits", () => {
    const places = createPlaces(1);
    let place: Place | null = places.tryTake();
    const order: string[] = [];
    const taker = (name: string) => () => {
      place = places.tryTake();
      if (place !== null) order.push(name);
    };
    places.wait(taker("a"));
    places.wait(taker("b"));
    place?.release();
    expect(order).toEqual(["a"]);
    place?.release();
    expect(order).toEqual(["a", "b"]);
    places.wait(taker("c"));
    expect(places.tryTake()).toBeNull();
  });

  it("pass over who stopped waiting and who no longer wants one", () => {
    const places = createPlaces(1);
    const place = take(places);
    const order: string[] = [];
    const leave = places.wait(() => order.push("left"));
    places.wait(() => order.push("declined"));
    places.wait(() => places.tryTake() && order.push("took"));
    leave();
    place.release();
    expect(order).toEqual(["declined", "took"]);
  });

  it("grow at once, and shrink without touching who is there", () => {
    const places = createPlaces(1);
    const first = take(places);
    let second: Place | null = null;
    places.wait(() => (second = places.tryTake()));
    places.resize(2);
    expect(second).not.toBeNull();
    places.resize(1);
    first.release();
    expect(places.tryTake()).toBeNull();
    (second as Place | null)?.release();
    expect(places.tryTake()).not.toBeNull();
  });
});

describe("a place", () => {
  it("that is lent is there for others, and comes back when one of them is done", () => {
    const places = createPlaces(1);
    const lender = take(places);
    lender.lend();
    lender.lend();
    const other = take(places);
    let back = 0;
    lender.reclaim(() => back++);
    expect(back).toBe(0);
    other.release();
    expect(back).toBe(1);
    expect(places.tryTake()).toBeNull();
  });

  it("comes back at once when nobody has it", () => {
    const places = createPlaces(1);
    const place = take(places);
    place.lend();
    let back = 0;
    place.reclaim(() => back++);
    place.reclaim(() => back++);
    expect(back).toBe(2);
    place.release();
    expect(places.tryTake()).not.toBeNull();
  });

  it("comes back before newcomers, whoever asked first", () => {
    const places = createPlaces(1);
    const lender = take(places);
    lender.lend();
    const other = take(places);
    const order: string[] = [];
    places.wait(() => places.tryTake() && order.push("newcomer"));
    lender.reclaim(() => order.push("lender"));
    other.release();
    expect(order).toEqual(["lender"]);
    lender.release();
    expect(order).toEqual(["lender", "newcomer"]);
  });

  it("that is lent goes to who waits already", () => {
    const places = createPlaces(1);
    const lender = take(places);
    let took = false;
    places.wait(() => (took = places.tryTake() !== null));
    lender.lend();
    expect(took).toBe(true);
  });

  it("of a run that ends while it waits is given back once, and nobody hears of it", () => {
    const places = createPlaces(1);
    const lender = take(places);
    lender.lend();
    const other = take(places);
    let back = 0;
    lender.reclaim(() => back++);
    lender.release();
    lender.release();
    other.release();
    expect(back).toBe(0);
    expect(places.tryTake()).not.toBeNull();
    expect(places.tryTake()).toBeNull();
  });
});
