import { parseAllowEntry, presetEntries } from "../../../src/foundation/contracts/network-allow.ts";
import { allowedByCredential } from "../../../src/foundation/credentials/allowed-hosts.ts";
import { credentialTypes } from "../../../src/foundation/credentials/credential-types.ts";

const without = () => Promise.resolve({});
const at = (host: string) => () => Promise.resolve({ host });

test.each([
  ["github_token", ["github"]],
  ["git_ssh", ["github", "gitlab", "bitbucket"]],
  ["my_own_type", []],
  ["not a credential!", []],
])("the hosts allowed by a credential of type %s are %j", async (reference, entries) => {
  expect(await allowedByCredential(reference, {}, without)).toEqual(entries);
});

test("the hosts allowed by a credential for a self-hosted server are only that server, by HTTPS and SSH", async () => {
  const entries = await allowedByCredential("github_token", {}, at("git.acme.test"));
  expect(entries).toEqual(["git.acme.test", "git.acme.test:22"]);
  expect(await allowedByCredential("gitlab_token", {}, at("git.acme.test:8443"))).toEqual([
    "git.acme.test:8443",
    "git.acme.test:22",
  ]);
  const api = (url: string) => () => Promise.resolve({ api_url: url });
  const enterprise = api("https://git.acme.test/api/v3");
  expect(await allowedByCredential("github_app", {}, enterprise)).toEqual(entries);
  expect(await allowedByCredential("github_app", {}, api("https://api.acme.ghe.com"))).toContain(
    "acme.ghe.com",
  );
  for (const entry of entries) expect(parseAllowEntry(entry)).not.toBeTypeOf("string");
});

test("the hosts allowed by a credential include those from the project's config, even if the credential can't be read", async () => {
  const more = { crm: ["crm.acme.test"], "github_token:work": ["mirror.acme.test"] };
  expect(await allowedByCredential("crm:default", more, without)).toEqual(["crm.acme.test"]);
  const gone = () => Promise.reject(new Error("gone"));
  expect(await allowedByCredential("github_token:work", more, gone)).toEqual(["mirror.acme.test"]);
});

test("the hosts allowed by a credential are existing presets", () => {
  const presets = Object.values(credentialTypes).flatMap((type) => type.presets ?? []);
  expect(presets.length).toBeGreaterThan(20);
  for (const preset of presets) expect(presetEntries(preset), preset).not.toBeNull();
});
