import {
  agent,
  agentChange,
  project,
  projectChange,
  refusal,
  said,
  usualAgent,
} from "./samples.ts";

const withNetwork = (text: string) => `${usualAgent}[network]\n${text}\n`;

test("[network] has the values of its table, or is null if the table is missing", () => {
  expect(agent(usualAgent).network).toBeNull();
  expect(agent(withNetwork("")).network).toEqual({ allow: [] });
  const allow = ["github", "*.example.com", "10.0.0.7:5432 private", "db.lan private"];
  const written = `allow = ${JSON.stringify(allow)}\nask = false`;
  expect(agent(withNetwork(written)).network).toEqual({ allow });
  expect(project("").network).toBeNull();
  expect(project("[network]\nallow = ['npm']").network).toEqual({
    allow: ["npm"],
    credentials: {},
  });
});

test.each(["githb", "https://example.com", "*"])("[network] refuses the entry %j", (entry) =>
  expect(refusal(agentChange(withNetwork(`allow = ["${entry}"]`)))).toContain(
    `network.allow[0] is "${entry}"; expected a preset such as "github", or a host such as`,
  ),
);

test("[network] refuses ask = true, which has no effect, for an agent and for the project", () => {
  const text = "network.ask is true; expected false: list hosts in network.allow, and those that";
  expect(refusal(agentChange(withNetwork("ask = true")))).toContain(text);
  expect(refusal(projectChange("[network]\nask = true"))).toContain(text);
});

test("[network] binds credentials of the project to hosts", () => {
  const { network } = project('[network.credentials]\ncrm = ["crm.example.com"]');
  expect(network?.credentials).toEqual({ crm: ["crm.example.com"] });
});

test.each(["crm.example.com:8443", "*.example.com", "github"])(
  "[network] binds no credential to %s",
  (host) =>
    expect(refusal(projectChange(`[network.credentials]\ncrm = ["${host}"]`))).toContain(
      "expected a host without a port and without a wildcard",
    ),
);

test("[network] warns that it has no effect if the agent's network is open", () => {
  const open = `${withNetwork('allow = ["npm"]')}[local]\nnetwork = "bridge"\n`;
  expect(said(agentChange(open)).join("\n")).toContain(
    'warning: agents/dev/config.toml:4:1  network has no effect, because local.network is "bridge"',
  );
});
