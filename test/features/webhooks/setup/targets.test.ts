import { githubHooks } from "../../../../src/features/webhooks/setup/github.ts";
import { gitlabHooks } from "../../../../src/features/webhooks/setup/gitlab.ts";

const apis = { github: githubHooks, gitlab: gitlabHooks } as const;

test.each<[keyof typeof apis, string, string | null]>([
  ["github", "acme/website", "/repos/acme/website/hooks?per_page=100"],
  ["github", "acme/.github", "/repos/acme/.github/hooks?per_page=100"],
  ["github", "acme/website/../../user", null],
  ["github", "acme/..", null],
  ["github", "../user", null],
  ["github", "acme/a?b", null],
  ["github", "acme/a%2fb", null],
  ["github", "acme", null],
  ["gitlab", "acme/team/website", "/projects/acme%2Fteam%2Fwebsite/hooks?per_page=100"],
  ["gitlab", "..", null],
])("%s asks for the webhooks of %s at %s", async (name, target, path) => {
  const asked: string[] = [];
  const call = (_method: string, at: string) => Promise.resolve(asked.push(at) && []);
  const found = apis[name].find(call, target, []);
  if (path === null) await expect(found).rejects.toMatchObject({ code: "usage" });
  else expect(await found).toBeNull();
  expect(asked).toEqual(path === null ? [] : [path]);
});
