import { createWaitGraph, type WaitTarget } from "../../../../src/runtime/runs/rules/wait-graph.ts";

type Waits = Readonly<Record<string, readonly WaitTarget[]>>;

/** A graph in which each of these runs waits for others. */
function graphOf(waits: Waits) {
  const graph = createWaitGraph();
  for (const [run, targets] of Object.entries(waits)) graph.add(run, () => targets);
  return graph;
}

test.each<[what: string, waits: Waits, run: string, on: WaitTarget[], cycle: string | null]>([
  ["no cycle for a wait without a target", {}, "a", [], null],
  ["the shortest cycle", { b: ["c", "d"], c: ["d"], d: ["a"] }, "a", ["x", "b"], "a b d a"],
  ["the cycle of a run that waits for itself", {}, "a", ["a"], "a a"],
  ["no cycle if one of several targets is free", { b: ["a"] }, "a", [["b", "d"]], null],
  ["no cycle through a run with a free target", { b: ["a"], a: [["b", "d"]] }, "d", ["c"], null],
  ["a cycle once all targets of a run wait", { b: ["a"], a: [["b", "d"]] }, "d", ["a"], "d a d"],
])("a graph of waits finds %s", (_what, waits, run, on, cycle) => {
  expect(
    graphOf(waits)
      .cycle(run, () => on)
      ?.join(" ") ?? null,
  ).toBe(cycle);
});

test("a graph of waits removes only the cancelled wait", () => {
  const graph = graphOf({ c: ["a"] });
  const cancel = graph.add("b", () => ["a"]);
  graph.add("b", () => ["c"]);
  cancel();
  cancel();
  expect(graph.cycle("a", () => ["b"])).toEqual(["a", "b", "c", "a"]);
});

test("a graph of waits reads the targets of a wait again for each search", () => {
  const targets = ["c"];
  const graph = graphOf({ b: targets });
  expect(graph.cycle("a", () => ["b"])).toBeNull();
  targets[0] = "a";
  expect(graph.cycle("a", () => ["b"])).toEqual(["a", "b", "a"]);
});
