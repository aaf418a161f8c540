import { createWaitGraph, type WaitTarget } from "../../../../src/runtime/runs/rules/wait-graph.ts";

type Waits = Readonly<Record<string, readonly WaitTarget[]>>;

/** A graph in which each of these runs waits for others. */
function graphOf(waits: Waits) {
  const graph = createWaitGraph();
  for (const [run, targets] of Object.entries(waits)) graph.add(run, () => targets);
  return graph;
}

test.each<[what: string, waits: Waits, run: string, on: WaitTarget[], cycle: string | null]>([
  ["none when no run waits", {}, "a", ["b"], null],
  ["none for a wait without a target", {}, "a", [], null],
  ["the shortest one", { b: ["c", "d"], c: ["d"], d: ["a"] }, "a", ["x", "b"], "a b d a"],
  ["none for a run beside it", { b: ["c"], c: ["a"], a: ["b"] }, "x", ["b"], null],
  ["that of a run that waits for itself", {}, "a", ["a"], "a a"],
  ["none of others", { b: ["c"], c: ["b"] }, "a", ["b"], null],
  ["none if one of several targets works", { b: ["a"] }, "a", [["b", "d"]], null],
  ["none through a run with such targets", { b: ["a"], a: [["b", "d"]] }, "d", ["c"], null],
  ["one if the last of them waits, too", { b: ["a"], a: [["b", "d"]] }, "d", ["a"], "d a d"],
  ["none if a further one works", { b: ["a"], a: [["b", "d"]] }, "d", [["a", "x"]], null],
])("a graph of waits has a cycle: %s", (_what, waits, run, on, cycle) => {
  expect(
    graphOf(waits)
      .cycle(run, () => on)
      ?.join(" ") ?? null,
  ).toBe(cycle);
});

test("a graph of waits forgets a wait that was cancelled, and only that one", () => {
  const graph = graphOf({ c: ["a"] });
  const cancel = graph.add("b", () => ["a"]);
  graph.add("b", () => ["c"]);
  cancel();
  cancel();
  expect(graph.cycle("a", () => ["b"])).toEqual(["a", "b", "c", "a"]);
});

test("a graph of waits asks each time for the targets of a wait", () => {
  const targets = ["c"];
  const graph = graphOf({ b: targets });
  expect(graph.cycle("a", () => ["b"])).toBeNull();
  targets[0] = "a";
  expect(graph.cycle("a", () => ["b"])).toEqual(["a", "b", "a"]);
});

test("a graph of waits finds a way back through ten thousand runs that wait in a row", () => {
  const row = Array.from({ length: 10_000 }, (_, n) => [`x${n}`, [`x${n + 1}`]]);
  const graph = graphOf({ ...(Object.fromEntries(row) as Waits), x10000: ["a"] });
  expect(graph.cycle("a", () => ["x0"])).toHaveLength(10_003);
});
