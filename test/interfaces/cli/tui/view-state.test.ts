import { expect, test } from "vitest";
import { windowStart } from "../../../../src/interfaces/cli/tui/agent-table.ts";
import {
  firstView,
  reduceView,
  selectedIndex,
} from "../../../../src/interfaces/cli/tui/view-state.ts";

const names = ["a", "b", "c"];

test("the selection moves and stops at both ends", () => {
  const last = reduceView(firstView, { type: "move", by: Infinity, names });
  expect(last).toMatchObject({ selected: "c", index: 2 });
  expect(reduceView(last, { type: "move", by: 1, names })).toMatchObject({ selected: "c" });
  expect(reduceView(last, { type: "move", by: -Infinity, names })).toMatchObject({ selected: "a" });
});

test("the selection stays with its agent when others come", () => {
  const view = reduceView(firstView, { type: "move", by: 1, names });
  expect(selectedIndex(view, ["0", "a", "a2", "b"])).toBe(3);
});

test("the next agent is selected when the selected one goes", () => {
  const view = reduceView(firstView, { type: "move", by: 1, names });
  expect(selectedIndex(view, ["a", "c"])).toBe(1);
  expect(selectedIndex(view, ["a"])).toBe(0);
  expect(selectedIndex(view, [])).toBe(0);
});

test("without agents a move selects none", () => {
  expect(reduceView(firstView, { type: "move", by: 1, names: [] }).selected).toBeNull();
});

test("the window keeps the selected row in its middle, as far as both ends allow", () => {
  const start = (index: number) => windowStart({ index, room: 5, length: 10 });
  expect([0, 2, 3, 5, 9].map(start)).toEqual([0, 0, 1, 3, 5]);
  expect(windowStart({ index: 1, room: 5, length: 2 })).toBe(0);
});
