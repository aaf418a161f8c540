import { agentFacts } from "../../../src/foundation/config/agent-view.ts";
import { agent, agentChange, refusal, said, usualAgent } from "./samples.ts";

const all =
  'hosts = ["api.stripe.com", "*.example.com:8443"]\nover = 5\nagents = ["deployer", "*"]';
const none = { hosts: [], over: null, agents: [], tools: [] };
const withGate = (text: string, more = "") => `${usualAgent}[approve]\n${text}\n${more}`;

test("[approve] returns hosts, amount and agents that need approval, or null if the table is missing", () => {
  expect(agent(usualAgent).approve).toBeNull();
  expect(agent(withGate("")).approve).toEqual(none);
  expect(agent(withGate(all)).approve).toEqual({
    hosts: ["api.stripe.com", "*.example.com:8443"],
    over: 5,
    agents: ["deployer", "*"],
    tools: [],
  });
});

test.each([
  ['hosts = ["github"]', "approve.hosts[0]"],
  ["hosts = ['*.1.2.3.4']", "approve.hosts[0]"],
  ["over = 0", "approve.over"],
  ["agents = ['']", "approve.agents[0]"],
])("[approve] refuses %s", (text, path) => {
  const message = refusal(agentChange(withGate(text)));
  expect(message).toMatch(/agents.dev.config\.toml:5:/);
  expect(message).toContain(`${path} is`);
});

test("[approve] warns about keys that have no effect because of other settings", () => {
  const open = withGate('hosts = ["api.stripe.com"]', '[local]\nnetwork = "bridge"\n');
  expect(said(agentChange(open))).toEqual([
    expect.stringContaining(
      "config.toml:5:9  approve.hosts has no effect, because local.network is",
    ),
  ]);
  expect(said(agentChange(withGate("over = 20")))).toEqual([
    expect.stringContaining(
      "config.toml:5:8  approve.over has no effect, because budget.run is 10",
    ),
  ]);
  expect(said(agentChange(withGate(all)))).toEqual([]);
});

test("agentFacts shows what a person must approve", () => {
  const facts = agentFacts(agent(withGate(all)), () => null);
  expect(facts.find(({ label }) => label === "A person approves")?.values).toEqual([
    "api.stripe.com",
    "*.example.com:8443",
    "more than $5 of a run",
    "calls of deployer",
    "every call",
  ]);
});
