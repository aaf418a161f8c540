import { createWaitGraph } from "../../../../src/runtime/runs/rules/wait-graph.ts";

const on =
  (...targets: string[]) =>
  () =>
    targets;

test("a graph of waits has no cycle when no run waits", () => {
  expect(createWaitGraph().cycle("a-1", on("b-1"))).toBeNull();
  expect(createWaitGraph().cycle("a-1", on())).toBeNull();
});

test("a graph of waits names the shortest way back to the waiting run", () => {
  const graph = createWaitGraph();
  graph.add("b-1", on("c-1", "d-1"));
  graph.add("c-1", on("d-1"));
  graph.add("d-1", on("a-1"));
  expect(graph.cycle("a-1", on("x-1", "b-1"))).toEqual(["a-1", "b-1", "d-1", "a-1"]);
  expect(graph.cycle("x-1", on("b-1"))).toBeNull();
});

test("a graph of waits finds a run that waits for itself", () =>
  expect(createWaitGraph().cycle("a-1", on("a-1"))).toEqual(["a-1", "a-1"]));

test("a graph of waits ends its search in a cycle of others", () => {
  const graph = createWaitGraph();
  graph.add("b-1", on("c-1"));
  graph.add("c-1", on("b-1"));
  expect(graph.cycle("a-1", on("b-1"))).toBeNull();
});

test("a graph of waits forgets a wait that was cancelled, and only that one", () => {
  const graph = createWaitGraph();
  const callOff = graph.add("b-1", on("a-1"));
  graph.add("b-1", on("c-1"));
  graph.add("c-1", on("a-1"));
  callOff();
  callOff();
  expect(graph.cycle("a-1", on("b-1"))).toEqual(["a-1", "b-1", "c-1", "a-1"]);
});

test("a graph of waits asks each time for the targets of a wait", () => {
  const graph = createWaitGraph();
  let holder = "c-1";
  graph.add("b-1", () => [holder]);
  expect(graph.cycle("a-1", on("b-1"))).toBeNull();
  holder = "a-1";
  expect(graph.cycle("a-1", on("b-1"))).toEqual(["a-1", "b-1", "a-1"]);
});

test("a graph of waits has no cycle if one of several targets is enough and still works", () => {
  const graph = createWaitGraph();
  graph.add("b-1", on("a-1"));
  const oneOfBoth = () => [["b-1", "b-2"]];
  expect(graph.cycle("a-1", oneOfBoth)).toBeNull();
  graph.add("a-1", oneOfBoth);
  expect(graph.cycle("b-2", on("c-1"))).toBeNull();
  // The last of them that worked: now nobody can end.
  expect(graph.cycle("b-2", on("a-1"))).toEqual(["b-2", "a-1", "b-2"]);
  expect(graph.cycle("b-2", () => [["a-1", "x-1"]])).toBeNull();
});

test("a graph of waits finds a way back through ten thousand runs that wait in a row", () => {
  const graph = createWaitGraph();
  for (let n = 0; n < 10_000; n++) graph.add(`x-${n}`, on(`x-${n + 1}`));
  graph.add("x-10000", on("a-1"));
  expect(graph.cycle("a-1", on("x-0"))).toHaveLength(10_003);
});
