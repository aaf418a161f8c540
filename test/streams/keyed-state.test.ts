import { describe, expect, it } from "vitest";
import { keyedState } from "../../streams/keyed-state.ts";

describe("a keyed state", () => {
  it("tells each reader its key's value, and the later ones that differ", () => {
    const state = keyedState(0);
    const seen: string[] = [];
    state.set("a", 1);
    const subscription = state.of("a").subscribe((value) => seen.push(`a${value}`));
    state.of("b").subscribe((value) => seen.push(`b${value}`));
    state.set("a", 1);
    state.set("a", 2);
    state.set("b", 3);
    subscription.unsubscribe();
    state.set("a", 4);
    expect(seen).toEqual(["a1", "b0", "a2", "b3"]);
    expect([state.get("a"), state.get("b"), state.get("c")]).toEqual([4, 3, 0]);
  });

  it("gives a late reader the current value", () => {
    const state = keyedState("none");
    const seen: string[] = [];
    state.of("a").subscribe((value) => seen.push(`first ${value}`));
    state.set("a", "one");
    state.of("a").subscribe((value) => seen.push(`late ${value}`));
    state.set("a", "none");
    expect(seen).toEqual(["first none", "first one", "late one", "first none", "late none"]);
  });

  it("goes on with those who read while others leave", () => {
    const state = keyedState(0);
    const seen: number[] = [];
    const first = state.of("a").subscribe();
    state.of("a").subscribe((value) => seen.push(value));
    first.unsubscribe();
    state.set("a", 1);
    expect(seen).toEqual([0, 1]);
  });
});
