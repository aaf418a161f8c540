import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { startProviders } from "../helpers/hook-providers.ts";
import { LiveProject } from "../helpers/live-project.ts";

type Providers = Awaited<ReturnType<typeof startProviders>>;
type Source = keyof Providers["hooks"];

const tokens: Readonly<
  Record<Source, readonly [type: string, fields: Readonly<Record<string, string>>]>
> = {
  github: ["github_token", { token: "ghp_test" }],
  gitlab: ["gitlab_token", { token: "glpat-test" }],
  linear: ["linear_token", { token: "lin_api_test" }],
  stripe: ["stripe_key", { key: "sk_test_1" }],
};

/** A project whose agent listens to the provider, with the gateway at a port that nothing uses. */
async function listening(type: Source, filters: string) {
  const providers = await startProviders();
  const project = await LiveProject.hello();
  const port = await freePort();
  const source = `[webhooks.hub]\ntype = "${type}"\ncredential = "default"\napi = "${providers.url}/${type}"`;
  const gateway = `port = ${port}\npublicUrl = "http://127.0.0.1:${port}"`;
  await project.edit("config.toml", /^port = .*$/m, `${gateway}\n${source}`);
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

test("al webhook setup creates GitHub's webhook and waits for its ping; al doctor reports later differences", async () => {
  const { project, hooks, url } = await listening("github", issues);
  const fix = /github acme\/website has no webhook to http.*\n +fix: al webhook setup github acme/;
  expect(await doctorOf(project)).toMatch(fix);
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
  const changes = ["it lacks push", "no agent listens to pull_request"];
  expect(JSON.parse(changed)).toMatchObject({
    source: "hub",
    url,
    hooks: [{ id: "7", changed: changes, ping: { status: 200 } }],
  });
  expect(hooks).toMatchObject([{ events: ["issues", "push"] }]);
}, 120_000);

const mergeRequests = 'repos = ["acme/website"]\nevents = ["merge_request"]';
const anySecret = expect.any(String) as string;

test.each<[Source, string, string, string, readonly string[], object]>([
  [
    "gitlab",
    mergeRequests,
    "acme/website",
    "merge_request",
    [],
    { merge_requests_events: true, push_events: false, issues_events: false, token: anySecret },
  ],
  [
    "linear",
    'events = ["issues", "issue_label"]',
    "",
    "Issue, IssueLabel",
    [],
    { resourceTypes: ["Issue", "IssueLabel"], allPublicTeams: true, secret: anySecret },
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
])(
  "al webhook setup creates a webhook at %s for %s",
  async (type, filters, target, events, args, stored) => {
    const { project, hooks, url } = await listening(type, filters);
    const made = await project.print("webhook", "setup", type, ...args);
    expect(made).toContain(`the webhook ${target}${target && " "}(`);
    expect(made).toContain(`events   ${events}`);
    expect(hooks).toEqual([expect.objectContaining({ url, ...stored })]);
    const again = await project.print("webhook", "setup", type, ...args);
    expect(again).toContain("already matches the agents");
    const secret = await secretOf(project, type);
    expect(secret.length).toBeGreaterThan(30);
    expect(made + again).not.toContain(secret);
    if (args.length === 0) expect(await doctorOf(project)).toMatch(/ok +hooks at providers/);
  },
);

test("al webhook setup fails with a reason if the ping does not arrive, the repository is hidden, or the source is missing", async () => {
  const filters = 'events = ["issues"]';
  const { project } = await listening("github", filters);
  for (const [args, told] of [
    [
      ["github", "acme/website"],
      /ping of github got the answer 502 from http.*\n.*this address reaches the gateway/,
    ],
    [["github", "acme/other"], /answered 404: Not Found.\n.*github_token/],
    [["gitlab"], /no webhook source of gitlab.\n.*\[webhooks\.gitlab\]/],
  ] as const) {
    const { code, stderr } = await project.al("webhook", "setup", ...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(told)]);
    expect(stderr).not.toContain("ghp_test");
  }
  await project.edit("config.toml", 'type = "github"', 'type = "sentry"');
  await project.edit("agents/hello/config.toml", filters, 'resources = ["issue"]');
  expect(await project.print("webhook", "setup", "sentry")).toMatch(
    /^address +http.*\/webhooks\/sentry\/hub\nevents +issue\nsecret +not stored yet; store it with `al creds add sentry_client_secret:default`$/m,
  );
});
