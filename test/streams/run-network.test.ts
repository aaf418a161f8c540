import { networkOf } from "../../streams/run-network.ts";
import { anAgent } from "../helpers/agents.ts";

const none = { allow: [] };
const own = anAgent("dev").local;
const project = { local: { network: "none" }, network: null };

test.each([
  ["nothing of it is configured", {}, {}, "closed-if-possible"],
  ["the project has [network]", {}, { network: none }, "closed"],
  ["the agent has [network]", { network: none }, {}, "closed"],
  ["the project's network is the engine's", {}, { local: { network: "bridge" } }, "open"],
  ["the agent's is", { local: { ...own, network: "lan" } }, {}, "open"],
  [
    "the agent's is none, the project's open",
    { local: { ...own, network: "none" } },
    { local: { network: "bridge" } },
    "closed-if-possible",
  ],
  ["an open one has [network]", { network: none }, { local: { network: "bridge" } }, "open"],
])("the network of a run when %s", (_name, agent, of, expected) => {
  const config = { ...anAgent("dev"), network: null, ...agent };
  expect(networkOf(config, { ...project, ...of })).toBe(expected);
});
