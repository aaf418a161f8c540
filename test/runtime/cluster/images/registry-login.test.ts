import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDir } from "../../../helpers/temp-dir.ts";
import {
  registryLogin,
  registryOf,
} from "../../../../src/runtime/cluster/images/registry-login.ts";

const image = "registry.example.com:5000/team/al-agent:1";

async function loginBy(config: object | string, helpers: Readonly<Record<string, string>> = {}) {
  const folder = tempDir();
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

const host = "registry.example.com:5000";
const auth = Buffer.from("me:a:b").toString("base64");
const login = { username: "me", password: "a:b", serveraddress: host };
const answer = `read host; echo "{\\"Username\\":\\"me\\",\\"Secret\\":\\"for $host\\"}"`;
const helped = { username: "me", password: `for ${host}`, serveraddress: host };
const none = "echo credentials not found in native keychain; exit 1";

test.each<[string, object, string, object]>([
  ["docker login, whose passwords may have colons", { auths: { [host]: { auth } } }, "", login],
  ["an older docker login", { auths: { [`https://${host}/v2/`]: { auth } } }, "", login],
  ["a credential helper", { credsStore: "safe" }, answer, helped],
  ["the registry's credential helper", { credHelpers: { [host]: "safe" } }, answer, helped],
])("the registry login is read from %s", async (_what, config, safe, expected) => {
  expect(await loginBy(config, { safe })).toEqual(expected);
});

test.each([
  ["a config", { auths: { "other.example.com": { auth } } }],
  ["a credential helper", { credsStore: "safe" }],
])("the registry login is undefined if %s does not have it", async (_what, config) => {
  expect(await loginBy(config, { safe: none })).toBeUndefined();
});

test("the registry login is undefined without a Docker config", async () =>
  expect(await registryLogin(image, { DOCKER_CONFIG: "/al-no-such-folder" })).toBeUndefined());

test.each<[string, object | string, string, RegExp, string?]>([
  [
    "a failing credential helper",
    { credsStore: "safe" },
    "echo s3cret; echo s3cret >&2; exit 3",
    /docker-credential-safe/,
    `run docker login ${host}`,
  ],
  ["a missing credential helper", { credsStore: "missing" }, "", /it is not in the PATH/],
  ["an invalid answer of a helper", { credsStore: "safe" }, "echo s3cret", /-safe is not a login/],
  ["a file that is not a Docker config", "{", "", /is not a config file of Docker/],
])(
  "the registry login reports %s, without its output",
  async (_what, config, safe, message, hint) => {
    const login = loginBy(config, { safe });
    await expect(login).rejects.toThrow(message);
    await expect(login).rejects.not.toThrow(/s3cret/);
    if (hint !== undefined) await expect(login).rejects.toMatchObject({ hint });
  },
);
