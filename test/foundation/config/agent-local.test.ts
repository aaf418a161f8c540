import { agent, agentChange, refusal, said, usualAgent } from "./samples.ts";

const at = "agents/dev/config.toml";
const withLocal = (local: string, runtime = "") => `${usualAgent}${runtime}[local]\n${local}\n`;

test("an agent's [local] has the values set in config.toml, and is empty by default", () => {
  const local = `memory = "1g"\ncpus = 0.5\nnetwork = "none"\nenv = { LOG_LEVEL = "debug", EMPTY = "" }`;
  expect(agent(withLocal(local)).local).toEqual({
    memory: "1g",
    cpus: 0.5,
    network: "none",
    env: { LOG_LEVEL: "debug", EMPTY: "" },
  });
  expect(agent(usualAgent).local).toEqual({ memory: null, cpus: null, network: null, env: {} });
});

test.each([
  ['memory = "much"', /local\.memory is "much"; expected a size, e\.g\. "512m" or "4g"/],
  ["cpus = 0", /local\.cpus is 0; expected a number of processors above 0/],
  ['env = { "1A" = "x" }', /1A.*letters, digits and _/],
])("an agent's [local] refuses %s", (local, expected) =>
  expect(refusal(agentChange(withLocal(local)))).toMatch(expected),
);

test.each(["PATH", "HOME", "AL_INSTANCE", "LD_PRELOAD", "NODE_OPTIONS", "GIT_CONFIG_COUNT"])(
  "an agent's [local] refuses %s, a variable that runs set or that changes which program a command starts",
  (name) =>
    expect(refusal(agentChange(withLocal(`env.${name} = "x"`)))).toContain(
      `  local.env.${name} is reserved for the run itself; choose another name`,
    ),
);

test("an agent's [local] refuses an environment variable only if one of the agent's credentials sets it", () => {
  const local = 'env.GITHUB_TOKEN = "x"';
  const credentials = withLocal(local).replace("[]", '["github_token"]');
  expect(refusal(agentChange(credentials))).toContain(
    `${at}:5:20  local.env.GITHUB_TOKEN is set by the credential github_token; choose another name`,
  );
  expect(said(agentChange(withLocal(local)))).toEqual([]);
});

test("an agent's [local] warns that limits have no effect on a host-user agent, but accepts variables", () => {
  const runtime = '[runtime]\ntype = "host-user"\n';
  const change = agentChange(withLocal('memory = "1g"\nenv.A = "b"', runtime));
  expect(change.type).toBe("set");
  expect(said(change)).toEqual([
    expect.stringContaining(`${at}:7:10  local.memory limits containers, and this is a host-user`),
  ]);
});
