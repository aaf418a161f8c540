import type { PlacedRun } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { placedRuns, type SwarmTask } from "../../../../src/runtime/cluster/swarm/swarm-tasks.ts";

const services = [{ ID: "s", Spec: { Name: "al-1", Labels: { "al.instance": "dev-1" } } }];
const members = [
  { ID: "a", Description: { Hostname: "n1" }, Status: { State: "ready" } },
  { ID: "b", Description: { Hostname: "n2" }, Status: { State: "down" } },
];
let created = 0;
const task = (State: string, more: Partial<SwarmTask> = {}, Err?: string): SwarmTask => ({
  ServiceID: "s",
  NodeID: "a",
  CreatedAt: `2026-01-01T00:00:${String(10 + created++)}Z`,
  Status: { State, ...(Err !== undefined && { Err }) },
  ...more,
});
const runOf = (...tasks: readonly SwarmTask[]) => placedRuns({ services, tasks, members })[0];

describe("the state of a run by its Swarm tasks", () => {
  test("is waiting without a task", () =>
    expect(runOf()).toEqual({
      name: "al-1",
      instanceId: "dev-1",
      state: "waiting",
      node: null,
      problem: null,
      endings: 0,
    }));

  test.each<[string, SwarmTask[], Partial<PlacedRun>]>([
    [
      "is running while any task runs, however often Swarm repeated it",
      [task("complete"), task("running", { NodeID: "b" }), task("preparing")],
      { state: "running", node: "n2", endings: 1 },
    ],
    [
      "shows that its node is away",
      [task("running", { NodeID: "b" })],
      { problem: "the node n2 is down" },
    ],
    ["shows no problem of a node that is there", [task("running")], { problem: null }],
    [
      "is waiting while its node prepares the task",
      [task("preparing")],
      { state: "waiting", node: "n1" },
    ],
  ])("%s", (_what, tasks, state) => expect(runOf(...tasks)).toMatchObject(state));

  test("is ended after the last task, with its reason", () => {
    const ended = runOf(task("failed", {}, "one"), task("rejected", {}, "two"));
    expect(ended).toMatchObject({ state: "ended", problem: "two", endings: 2, exitCode: null });
    expect(ended).not.toHaveProperty("isHopeless");
  });

  test.each([
    "No such image: dev:1",
    "pull access denied for dev, repository does not exist or may require 'docker login'",
    "manifest unknown: manifest unknown",
  ])("is hopeless, so the run is rejected: %s", (reason) => {
    expect(runOf(task("rejected", {}, reason))?.isHopeless).toBe(true);
  });
});
