import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();
beforeEach(async () => {
  rmSync(cli.projectDir, { recursive: true });
  await cli.output(`new ${cli.projectDir} -p /`);
  await cli.output("config --set gateway.port=0");
});

const keyPath = () => join(cli.home, "credentials/gateway_api_key/default/key");
const readKey = () => cli.read("../home/credentials/gateway_api_key/default/key");

test("al doctor makes the API key of a new project and finds no error", async () => {
  await cli.prints("doctor --check", /warning +api key +there is no API key[^]+fix: al doctor\n/);
  expect(existsSync(cli.home)).toBe(false);
  const { code, stdout, stderr } = await cli.al("doctor");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^fixed +api key[^]*^ok +schedules +hello: Every minute/m);
  expect(stderr).toContain("0 errors, 0 warnings, 1 fixed");
  expect(statSync(keyPath()).mode & 0o777).toBe(0o600);
  expect((await cli.al("doctor --strict")).stderr).toContain("All is well.");
});

test("al doctor exits with 1 on errors, and names place and fix", async () => {
  const path = "agents/hello/config.toml";
  cli.write(path, cli.read(path).replace('"* * * * *"', '"often"'));
  const { code, stdout } = await cli.al("doctor");
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /error +agents +schedule "often" is not a cron .*\n +fix: edit agents\/hello\/config\.toml:5:12\n/,
  );
});

test("al doctor accepts warnings, but not with --strict", async () => {
  await cli.output("doctor");
  cli.write("config.toml", `wrkQueueSize = 3\n${cli.read("config.toml")}`);
  await cli.output("doctor");
  await cli.failure("doctor --strict");
});

test("al doctor --show-key prints only the API key, and --regenerate-key replaces it, but is refused with --check", async () => {
  await cli.failure("doctor --regenerate-key --check", 2);
  expect(existsSync(keyPath())).toBe(false);
  const first = await cli.output("doctor --show-key");
  expect(first).toBe(readKey());
  const hidden = await cli.output("doctor --regenerate-key");
  const second = readKey();
  expect(second).not.toBe(first);
  expect(hidden).not.toContain(second.trim());
  const third = await cli.output("doctor --regenerate-key --show-key");
  expect(third).toBe(readKey());
  expect(third).not.toBe(second);
});
