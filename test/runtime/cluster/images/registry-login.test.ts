import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  registryLogin,
  registryOf,
} from "../../../../src/runtime/cluster/images/registry-login.ts";

const image = "registry.example.com:5000/team/al-agent:1";

async function loginBy(config: object | string, helpers: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "al-login-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const text = typeof config === "string" ? config : JSON.stringify(config);
  await writeFile(join(folder, "config.json"), text);
  for (const [name, script] of Object.entries(helpers)) {
    const file = join(folder, `docker-credential-${name}`);
    await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const PATH = `${folder}:${process.env.PATH ?? ""}`;
  return registryLogin(image, { DOCKER_CONFIG: folder, PATH });
}

test.each([
  ["al-agent:1", "https://index.docker.io/v1/"],
  ["team/al-agent", "https://index.docker.io/v1/"],
  ["docker.io/team/al-agent", "https://index.docker.io/v1/"],
  ["localhost/al-agent", "localhost"],
  ["registry.example.com/team/al-agent:1", "registry.example.com"],
  ["127.0.0.1:5000/al-agent", "127.0.0.1:5000"],
])("the registry of %s is %s", (name, registry) => expect(registryOf(name)).toBe(registry));

test("the login is the one of docker login, whose passwords may have colons", async () => {
  const auth = Buffer.from("me:a:b").toString("base64");
  const login = { username: "me", password: "a:b", serveraddress: "registry.example.com:5000" };
  expect(await loginBy({ auths: { "registry.example.com:5000": { auth } } })).toEqual(login);
  const older = { "https://registry.example.com:5000/v2/": { auth } };
  expect(await loginBy({ auths: older })).toEqual(login);
});

test("the login may be missing", async () => {
  expect(await loginBy({ auths: { "other.example.com": { auth: "bWU6YQ==" } } })).toBeUndefined();
  const nowhere = { DOCKER_CONFIG: join(tmpdir(), "al-no-such-folder") };
  expect(await registryLogin(image, nowhere)).toBeUndefined();
});

test("a credential helper is asked for the login", async () => {
  const answer = `read host; echo "{\\"Username\\":\\"me\\",\\"Secret\\":\\"for $host\\"}"`;
  const login = { username: "me", password: "for registry.example.com:5000" };
  expect(await loginBy({ credsStore: "safe" }, { safe: answer })).toMatchObject(login);
  const helpers = { "registry.example.com:5000": "safe" };
  expect(await loginBy({ credHelpers: helpers }, { safe: answer })).toMatchObject(login);
});

test("a helper without a login for the registry is not an error", async () => {
  const none = "echo credentials not found in native keychain; exit 1";
  expect(await loginBy({ credsStore: "safe" }, { safe: none })).toBeUndefined();
});

test("the registry login reports a failing credential helper with a hint, without its output", async () => {
  const failing = loginBy({ credsStore: "safe" }, { safe: "echo s3cret; echo s3cret >&2; exit 3" });
  await expect(failing).rejects.toMatchObject({
    hint: "run docker login registry.example.com:5000",
  });
  await expect(failing).rejects.not.toThrow(/s3cret/);
  await expect(loginBy({ credsStore: "missing" })).rejects.toThrow(/it is not in the PATH/);
});

test("the registry login rejects a file that is not a Docker config", () =>
  expect(loginBy("{")).rejects.toThrow(/is not a config file of Docker/));

test("the answer of a helper is in no error", async () => {
  const asked = loginBy({ credsStore: "broken" }, { broken: "echo s3cret-password" });
  const error = await asked.catch((reason: unknown) => reason);
  expect(String(error)).toMatch(/docker-credential-broken is not a login/);
  expect(String(error)).not.toMatch(/s3cret/);
});
