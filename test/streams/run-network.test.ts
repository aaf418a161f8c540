import { networkOf } from "../../streams/run-network.ts";
import { anAgent } from "../helpers/agents.ts";

const none = { allow: [] };
const own = anAgent("dev").local;
const project = { local: { network: "none" }, network: null };

test.each([
  ["no network is configured", "closed-if-possible", {}, {}],
  ["the project has [network]", "closed", {}, { network: none }],
  ["the agent has [network]", "closed", { network: none }, {}],
  ["the project names an engine's network", "open", {}, { local: { network: "bridge" } }],
  ["the agent names an engine's network", "open", { local: { ...own, network: "lan" } }, {}],
  [
    "the agent's is none and the project names an engine's network",
    "closed-if-possible",
    { local: { ...own, network: "none" } },
    { local: { network: "bridge" } },
  ],
  [
    "an engine's network and [network] are set",
    "open",
    { network: none },
    { local: { network: "bridge" } },
  ],
])("if %s, a run's network is %s", (_name, expected, agent, of) => {
  const config = { ...anAgent("dev"), network: null, ...agent };
  expect(networkOf(config, { ...project, ...of })).toBe(expected);
});
