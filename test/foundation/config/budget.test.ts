import {
  agent,
  agentChange,
  project,
  projectChange,
  refusal,
  usualAgent,
  usualProject,
} from "./samples.ts";

const withBudget = (lines: string) => `${usualAgent}[budget]\n${lines}\n`;
const projectText = (lines: string) => `${usualProject}\n[budget]\n${lines}\n`;

test("[budget] defaults to 10 USD a run, with warnings at 50 and 80 percent", () => {
  const limits = { runUsd: 10, dayUsd: null, monthUsd: null, turns: null };
  const usual = { ...limits, warnAt: [50, 80], onLimit: "stop" };
  expect(project("").budget).toEqual(usual);
  expect(agent(usualAgent).budget).toEqual(usual);
});

test("[budget] of the project applies to each agent, except day and month, which limit all agents together", () => {
  const all = projectText(
    'run = 2\nday = 20\nmonth = 200\nturns = 30\nwarnAt = [90]\nonLimit = "pause"',
  );
  const shared = { runUsd: 2, turns: 30, warnAt: [90], onLimit: "pause" };
  expect(project(all).budget).toEqual({ ...shared, dayUsd: 20, monthUsd: 200 });
  const inherited = { ...shared, dayUsd: null, monthUsd: null };
  expect(agent(usualAgent, { projectText: all }).budget).toEqual(inherited);
  const own = withBudget("run = 1.5\nday = 5\nwarnAt = []");
  const changed = { ...inherited, runUsd: 1.5, dayUsd: 5, warnAt: [] };
  expect(agent(own, { projectText: all }).budget).toEqual(changed);
});

test.each([
  ["run = 0", "5:7  budget.run is 0"],
  ["warnAt = [50, 101]", "5:15  budget.warnAt[1] is 101"],
])("[budget] refuses %s", (line, message) => {
  expect(refusal(agentChange(withBudget(line)))).toContain(message);
  expect(projectChange(`[budget]\n${line}`).type).toBe("invalid");
});

const model = (lines: string) => `[models.m]\nprovider = "openai"\nmodel = "x"\n${lines}`;

test("prices and limits of a model come from config.toml; cached input costs as much as input by default", () => {
  const { models } = project(
    model(
      'price = { input = 3, output = 15 }\nrequestsPerMinute = 60\nproviderTools = ["url"]\nextraFields = ["a.b"]\ninput = ["text", "image"]',
    ),
  );
  expect(models.m).toMatchObject({
    price: { input: 3, output: 15, cacheRead: 3, cacheWrite: 3 },
    requestsPerMinute: 60,
    providerTools: ["url"],
    extraFields: ["a.b"],
    input: ["text", "image"],
  });
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  const full = "price = { input = 3, output = 15, cacheRead = 0.3, cacheWrite = 3.75 }";
  expect(project(model(full)).models.m?.price).toEqual(price);
});

test.each([
  ["price = { input = 3 }", "models.m.price.output is missing"],
  ["price = { input = -1, output = 1 }", "4:19  models.m.price.input is -1"],
])("a model's prices reject %s", (line, message) =>
  expect(refusal(projectChange(model(line)))).toContain(message),
);
