import { limitsOf } from "../../../../src/runtime/runners/container/container-options.ts";
import { anAgent } from "../../../helpers/agents.ts";

test("each container limit of an agent overrides the project's limit", () => {
  const local = { memory: null, cpus: 0.5, network: "bridge", env: {} };
  const project = { memory: "128m", cpus: 1, network: "none" };
  expect(limitsOf(anAgent("dev", { local }), project)).toEqual({
    memory: "128m",
    cpus: 0.5,
    network: "bridge",
  });
});
