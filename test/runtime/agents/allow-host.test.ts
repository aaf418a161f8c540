import { parse } from "smol-toml";
import { allowHostSchema } from "../../../src/foundation/contracts/run-hosts.ts";
import { agentHosts } from "../../../src/runtime/agents/file-edits.ts";
import { agentProject } from "./agent-project.ts";

const dev = `# What starts it
schedule = "0 9 * * *" # every morning
models = ["main"]
credentials = []
`;
async function setUp(files: { readonly dev?: string; readonly project?: string } = {}) {
  const { context, edits, read } = await agentProject({ dev, ...files });
  const { allowHost } = edits;
  const allow = (host: string, more: object = {}) =>
    allowHost("dev", allowHostSchema.parse({ host, ...more }));
  const file = "agents/dev/config.toml";
  return { allow, allowHost, context, text: () => read(file) };
}

const networkIn = (text: string): unknown => parse(text).network;

test("the change of an allowed host is shown before it is written; comments stay", async () => {
  const { allow, text } = await setUp();
  const shown = await allow("API.Evil.test", { dryRun: true });
  expect(shown).toMatchObject({ entry: "api.evil.test", written: false });
  expect(shown.change).toMatch(/^\+\[network\]\n\+allow = \[ ?"api\.evil\.test" ?\]$/m);
  expect(text()).toBe(dev);
  expect(await allow("api.evil.test")).toMatchObject({ written: true, change: shown.change });
  expect(networkIn(text())).toEqual({ allow: ["api.evil.test"] });
  expect(text()).toContain("# every morning");
  expect(await allow("api.evil.test")).toMatchObject({ written: false, change: "" });
});

test("a new entry is added to the list, and a private one replaces the same public one", async () => {
  const own = `${dev}\n[network]\nask = false # people\nallow = ["github", "db.lan:5432"] # both\n`;
  const { allow, text } = await setUp({ dev: own });
  await allow("db.lan", { port: 5432, private: true });
  await allow("::1234", { port: 8443 });
  await allow("db", { port: 5432 });
  expect(networkIn(text())).toEqual({
    ask: false,
    allow: ["github", "db.lan:5432 private", "[::1234]:8443", "db:5432 private"],
  });
  expect(text()).toContain("# people");
});

test("two concurrent changes are both written", async () => {
  const { allow, text } = await setUp();
  await Promise.all(["a.test", "b.test", "c.test"].map((host) => allow(host)));
  expect(networkIn(text())).toEqual({ allow: ["a.test", "b.test", "c.test"] });
});

test.each([
  ["*.evil.test:1", "invalid_host"],
  ["evil.test/path", "invalid_host"],
  ['evil.test"]', "invalid_host"],
  ["", "host"],
])("allowing the host %j is refused, and nothing is written", async (host, why) => {
  const { allow, text } = await setUp();
  const refused = await Promise.resolve()
    .then(() => allow(host))
    .catch((error: unknown) => JSON.stringify(error) + String(error));
  expect(refused).toContain(why);
  expect(text()).toBe(dev);
});

test("a file with an error is unchanged, and so is that of a removed agent", async () => {
  const { allow, allowHost, text } = await setUp({ dev: `${dev}scale = "many"\n` });
  await expect(allow("api.evil.test")).rejects.toMatchObject({ code: "invalid_config" });
  expect(text()).toContain('scale = "many"');
  const other = allowHost("ops", allowHostSchema.parse({ host: "api.evil.test" }));
  await expect(other).rejects.toMatchObject({ code: "unknown_agent" });
});

test("each denied host has the entry that it needs, unless it is allowed by now", async () => {
  const { context } = await setUp({ project: '\n[network]\nallow = ["late.test"]\n' });
  const { hosts } = context.store;
  const one = { instanceId: "dev-1", agent: "dev", port: 443, detail: "", bytesOut: 0, bytesIn: 0 };
  for (const host of ["late.test", "api.github.com", "evil.test"]) {
    hosts.add({ ...one, host, denied: "not_allowed" });
  }
  hosts.add({ ...one, host: "late.test", denied: "private_address" });
  hosts.add({ ...one, host: "evil.test", denied: "unreachable" });
  const answer = await agentHosts("dev", context);
  expect(
    answer.denied.map(({ host, denied, entry }) => `${host} ${denied} ${entry}`).sort(),
  ).toEqual([
    "api.github.com not_allowed null",
    "evil.test not_allowed evil.test",
    "evil.test unreachable null",
    "late.test not_allowed null",
    "late.test private_address late.test private",
  ]);
});
