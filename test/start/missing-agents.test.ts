import { expect, test } from "vitest";
import { missingAgents } from "../../src/start/build-graph.ts";
import { anItem } from "../helpers/agents.ts";

test("agents with waiting work and no directory begin as removed, each once", () => {
  const waiting = [anItem("1", "gone"), anItem("2", "here"), anItem("3", "gone")];
  expect(missingAgents(waiting, new Map([["here", {}]]))).toEqual([
    { type: "removed", name: "gone" },
  ]);
  expect(missingAgents([], new Map())).toEqual([]);
});
