import { githubHooks } from "../../../../src/features/webhooks/setup/github.ts";
import { gitlabHooks } from "../../../../src/features/webhooks/setup/gitlab.ts";

const apis = { github: githubHooks, gitlab: gitlabHooks } as const;

function findHooks(name: keyof typeof apis, target: string) {
  const asked: string[] = [];
  const call = (_method: string, at: string) => Promise.resolve(asked.push(at) && []);
  return { found: apis[name].find(call, target, []), asked };
}

test.each<[keyof typeof apis, string, string]>([
  ["github", "acme/website", "/repos/acme/website/hooks?per_page=100"],
  ["github", "acme/.github", "/repos/acme/.github/hooks?per_page=100"],
  ["gitlab", "acme/team/website", "/projects/acme%2Fteam%2Fwebsite/hooks?per_page=100"],
])("the API of %s is asked for the webhooks of %s at %s", async (name, target, path) => {
  const { found, asked } = findHooks(name, target);
  expect(await found).toBeNull();
  expect(asked).toEqual([path]);
});

test.each<[keyof typeof apis, string]>([
  ["github", "acme/website/../../user"],
  ["github", "acme/.."],
  ["github", "../user"],
  ["github", "acme/a?b"],
  ["github", "acme/a%2fb"],
  ["github", "acme"],
  ["gitlab", ".."],
])("asking %s for the webhooks of %s is a usage error", async (name, target) => {
  const { found, asked } = findHooks(name, target);
  await expect(found).rejects.toMatchObject({ code: "usage" });
  expect(asked).toEqual([]);
});
