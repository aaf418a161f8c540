import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { startProviders } from "../helpers/hook-providers.ts";
import { LiveProject } from "../helpers/live-project.ts";

type Providers = Awaited<ReturnType<typeof startProviders>>;
type Source = keyof Providers["hooks"];

const tokens: Readonly<Record<Source, readonly [field: string, token: string]>> = {
  github: ["github_token/default/token", "ghp_test"],
  gitlab: ["gitlab_token/default/token", "glpat-test"],
  linear: ["linear_token/default/token", "lin_api_test"],
  stripe: ["stripe_key/default/key", "sk_test_1"],
};

/** A project whose agent listens to the provider, with the gateway at a port that nothing uses. */
async function listening(type: Source, filters: string) {
  const providers = await startProviders();
  const project = await LiveProject.hello();
  const port = await freePort();
  await project.edit(
    "config.toml",
    /^port = .*$/m,
    `port = ${port}\npublicUrl = "http://127.0.0.1:${port}"`,
  );
  await project.append(
    "config.toml",
    "\n" +
      `[webhooks.hub]\ntype = "${type}"\ncredential = "default"\napi = "${providers.url}/${type}"\n`,
  );
  await project.append("agents/hello/config.toml", `\n[[webhooks]]\nsource = "hub"\n${filters}\n`);
  await project.store(...tokens[type]);
  const url = `http://127.0.0.1:${port}/webhooks/${type}/hub`;
  return { project, hooks: providers.hooks[type], url };
}

const issues = 'repos = ["acme/website"]\nevents = ["issues", "pull_request"]';

async function secretOf({ home }: LiveProject, type: Source): Promise<string> {
  const path = join(home, `credentials/${type}_webhook_secret/default/secret`);
  return (await readFile(path, "utf8")).trim();
}

async function doctorOf(project: LiveProject): Promise<string> {
  return (await project.al("doctor", "--check")).stdout;
}

test("al webhook setup makes GitHub's webhook and checks its ping; al doctor reports later differences", async () => {
  const { project, hooks, url } = await listening("github", issues);
  expect(await doctorOf(project)).toMatch(
    /warning +hooks at providers +github acme\/website has no webhook to http.*\n +fix: al webhook setup github acme\/website/,
  );
  await project.start({ anyPort: false });

  const made = await project.print("webhook", "setup", "github");
  expect(made).toMatch(
    /^the webhook acme\/website \(7\) is made\n {2}events {3}issues, pull_request\n {2}ping {5}200 OK$/m,
  );
  const secret = await secretOf(project, "github");
  expect(hooks).toMatchObject([
    { active: true, config: { url, secret, content_type: "json", insecure_ssl: "0" } },
  ]);
  expect(made).not.toContain(secret);
  expect(await doctorOf(project)).toContain(
    "the webhook of github acme/website sends what agents listen to",
  );

  await project.edit("agents/hello/config.toml", '"pull_request"', '"push"');
  expect(await doctorOf(project)).toContain(
    "the webhook of github acme/website: it lacks push; no agent listens to pull_request",
  );
  const changed = await project.print("webhook", "setup", "github", "acme/website", "--json");
  expect(JSON.parse(changed)).toMatchObject({
    source: "hub",
    url,
    hooks: [
      {
        id: "7",
        changed: ["it lacks push", "no agent listens to pull_request"],
        ping: { status: 200 },
      },
    ],
  });
  expect(hooks).toMatchObject([{ events: ["issues", "push"] }]);
}, 120_000);

test("a ping that the gateway refuses, or that reaches none, fails with the reason", async () => {
  const { project } = await listening("github", issues);
  const alone = await project.al("webhook", "setup", "github");
  expect(alone).toMatchObject({ code: 1 });
  expect(alone.stderr).toMatch(
    /github's ping got the answer 502 from http.*\n.*does this address reach the gateway/,
  );
  await project.start({ anyPort: false });
  expect((await project.al("webhook", "setup", "github")).code).toBe(0);
}, 120_000);

test.each<[Source, string, string, string, readonly string[], object]>([
  [
    "gitlab",
    'repos = ["acme/website"]\nevents = ["merge_request"]',
    "acme/website",
    "merge_request",
    [],
    {
      merge_requests_events: true,
      push_events: false,
      issues_events: false,
      token: expect.any(String) as string,
    },
  ],
  [
    "linear",
    'events = ["issues", "issue_label"]',
    "",
    "Issue, IssueLabel",
    [],
    {
      resourceTypes: ["Issue", "IssueLabel"],
      allPublicTeams: true,
      secret: expect.any(String) as string,
    },
  ],
  ["linear", 'events = ["issue_comment"]', "ENG", "Comment", ["ENG"], { teamId: "team-1" }],
  [
    "stripe",
    'events = ["invoice.paid"]',
    "",
    "invoice.paid",
    [],
    { enabled_events: ["invoice.paid"] },
  ],
])("a webhook is made at %s for %s", async (type, filters, target, events, args, stored) => {
  const { project, hooks, url } = await listening(type, filters);
  const made = await project.print("webhook", "setup", type, ...args);
  expect(made).toContain(`the webhook ${target}${target && " "}(`);
  expect(made).toContain(`events   ${events}`);
  expect(hooks).toEqual([expect.objectContaining({ url, ...stored })]);
  const again = await project.print("webhook", "setup", type, ...args);
  expect(again).toContain("is as the agents need it");
  const secret = await secretOf(project, type);
  expect(secret.length).toBeGreaterThan(30);
  expect(made + again).not.toContain(secret);
  if (args.length === 0) expect(await doctorOf(project)).toMatch(/ok +hooks at providers/);
});

test.each<[string, readonly string[], RegExp]>([
  [
    "a repository that the token can't see",
    ["github", "acme/other"],
    /answered 404: Not Found\n.*github_token/,
  ],
  [
    "a provider without a source",
    ["gitlab"],
    /no webhook source of gitlab\n.*\[webhooks\.gitlab\]/,
  ],
])("%s is an error that says what to do", async (_what, args, said) => {
  const { project } = await listening("github", 'events = ["issues"]');
  const { code, stderr } = await project.al("webhook", "setup", ...args);
  expect(code).toBe(1);
  expect(stderr).toMatch(said);
  expect(stderr).not.toContain("ghp_test");
});

test("for Sentry the command prints the address, events and secret to enter there", async () => {
  const { project } = await listening("github", issues);
  await project.edit("config.toml", 'type = "github"', 'type = "sentry"');
  await project.edit("agents/hello/config.toml", issues, 'resources = ["issue"]');
  const { code, stdout, stderr } = await project.al("webhook", "setup", "sentry");
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("sentry's page") as string,
  });
  expect(stdout).toMatch(
    /^address +http.*\/webhooks\/sentry\/hub\nevents +issue\nsecret +al creds add sentry_client_secret:default stores it$/m,
  );
});
