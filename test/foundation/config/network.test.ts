import { describeChange } from "../../../src/foundation/config/agent-view.ts";
import { describeProjectChange } from "../../../src/foundation/config/describe-project-change.ts";
import { agent, agentChange, project, projectChange, said, usualAgent } from "./samples.ts";

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

test.each(["githb", "https://example.com", "*"])("[network] refuses the entry %j", (entry) => {
  const refused = said(agentChange(withNetwork(`allow = [${JSON.stringify(entry)}]`)));
  expect(refused.join("\n")).toContain(
    `network.allow[0] is ${JSON.stringify(entry)}; expected a preset such as "github", or a host such as`,
  );
});

test("[network] refuses ask = true, which has no effect, for an agent and for the project", () => {
  const refused = said(agentChange(withNetwork("ask = true"))).join("\n");
  expect(refused).toContain(
    "agents/dev/config.toml:5:7  network.ask is true; expected false: list hosts in network.allow, and those that a person has to allow in approve.hosts",
  );
  const ofProject = projectChange("[network]\nask = true");
  expect([ofProject.type, said(ofProject).join("\n")]).toEqual([
    "invalid",
    expect.stringContaining("config.toml:2:7  network.ask is true; expected false: list hosts"),
  ]);
});

test("[network] binds credentials of the project to hosts", () => {
  const { network } = project('[network.credentials]\ncrm = ["crm.example.com"]');
  expect(network?.credentials).toEqual({ crm: ["crm.example.com"] });
});

test.each(["crm.example.com:8443", "*.example.com", "github"])(
  "[network] binds no credential to %s",
  (host) => {
    const refused = said(projectChange(`[network.credentials]\ncrm = ["${host}"]`));
    expect(refused.join("\n")).toContain("expected a host without a port and without a wildcard");
  },
);

test("[network] warns that it has no effect if the agent's network is open", () => {
  const open = `${withNetwork('allow = ["npm"]')}[local]\nnetwork = "bridge"\n`;
  expect(said(agentChange(open)).join("\n")).toContain(
    'warning: agents/dev/config.toml:4:1  network has no effect, as local.network is "bridge"; leave one of them out',
  );
});

test("[network] is logged in one line when it changes", () => {
  const before = agent(withNetwork('allow = ["npm"]'));
  const after = agent(withNetwork('allow = ["npm", "pypi"]'));
  expect(describeChange(before, after)).toBe('network.allow ["npm"] → ["npm", "pypi"]');
  expect(describeChange(agent(usualAgent), before)).toContain('network.allow none → ["npm"]');
  const [was, is] = [project(""), project("[network]\nallow = ['npm']")];
  expect(describeProjectChange(was, is).text).toContain('network.allow none → ["npm"]');
});
