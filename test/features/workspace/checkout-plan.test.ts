import { checkoutPlan } from "../../../src/features/workspace/checkout-plan.ts";
import type { Trigger, WebhookEvent } from "../../../streams/vocabulary.ts";
import { aCheckout, aWorkspace } from "./git-host.ts";

const git = "https://github.com/{repository}.git";
const webhook = (event: Partial<WebhookEvent>): Trigger => ({
  kind: "webhook",
  event: event as WebhookEvent,
});
const planFor = (repo: string, more: Parameters<typeof aWorkspace>[1], event = {}) =>
  checkoutPlan(aCheckout(aWorkspace(git, more), webhook({ repo, ...event })));

test("the plan of a checkout has the address, the ref and the folder that trigger and config lead to", () => {
  const repos = ["acme/*"];
  expect(
    planFor("acme/website", { repos, ref: "refs/pull/{number}/head", depth: 3 }, { number: 7 }),
  ).toMatchObject({
    url: "https://github.com/acme/website.git",
    ref: "refs/pull/7/head",
    depth: 3,
    dir: "website",
  });
  expect(planFor("acme/website", { repos, ref: "{head_sha}" })?.ref).toBeNull();
  expect(checkoutPlan(aCheckout(aWorkspace("git@git.acme.com:site")))?.dir).toBe("site");
});

test.each(["out", "memory", ".github", "scripts"])(
  "a repository called %s is checked out into a folder that no other files of the run have",
  (name) => expect(planFor(`acme/${name}`, { repos: ["acme/*"] })?.dir).toMatch(/^repo-\w+$/),
);

test.each([
  "evil/website",
  "acme/website/../../evil/x",
  "acme/website?x",
  "acme/website#",
  "acme/%2e%2e/evil",
  "acme/-oProxyCommand=id",
  "Acme/website",
  "acme/website/x",
  "acme",
  "acme/website\n",
  "..",
])("a trigger can't choose the repository %j", (repo) => {
  expect(() => planFor(repo, { repos: ["acme/website"] })).toThrow(/\[workspace\]: /);
});

test.each(["--upload-pack=id", "a..b", "a\u0000b", "refs/heads/x y"])(
  "a trigger can't choose the ref %j",
  (branch) =>
    expect(() =>
      planFor("acme/website", { repos: ["acme/website"], ref: "{branch}" }, { branch }),
    ).toThrow(/\[workspace\]: the ref /),
);

test("a trigger without the repository's attributes is refused", () => {
  const plan = () => checkoutPlan(aCheckout(aWorkspace(git, { repos: ["acme/*"] })));
  expect(plan).toThrow(/the trigger has no repository/);
});
