import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { startProviders } from "../helpers/hook-providers.ts";
import { startGithub } from "../helpers/github-server.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { exitOf, spawnAl } from "../helpers/scheduler.ts";

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

/** The command's page, once it is printed, and what the command prints at its end. */
function setUpApp(project: LiveProject, ...args: string[]) {
  const child = spawnAl(project, ["webhook", "setup", "github", ...args, "--app"], { DISPLAY: "" });
  const page = Promise.withResolvers<string>();
  const output = { out: "", err: "" };
  child.stdout.on("data", (text: Buffer) => (output.out += String(text)));
  child.stderr.on("data", (text: Buffer) => {
    output.err += String(text);
    const [url] = /http:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(output.err) ?? [];
    if (url !== undefined) page.resolve(url);
  });
  const ended = exitOf(child).then((code) => {
    page.reject(new Error(output.err));
    return { code, ...output };
  });
  return { page: page.promise, ended };
}

/** Sends the form of the page as a browser does; resolves with the address that GitHub redirects to. */
async function submit(url: string): Promise<string> {
  const answer = await fetch(url);
  const html = await answer.text();
  const valueOf = (pattern: RegExp) =>
    (pattern.exec(html)?.[1] ?? "").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  const action = valueOf(/action="([^"]+)"/);
  expect(answer.headers.get("content-security-policy")).toContain(
    `form-action https: ${new URL(action).origin};`,
  );
  const body = new URLSearchParams({ manifest: valueOf(/name="manifest" value="([^"]+)"/) });
  const sent = await fetch(action, { method: "POST", body, redirect: "manual" });
  return sent.headers.get("location") ?? "";
}

test("al webhook setup github --app makes an app with the permissions and events of the agents, stores its key and secret, and receives its ping", async () => {
  const github = await startGithub();
  onTestFinished(() => github.stop());
  const { project, url } = await listening("github", issues);
  await project.edit("config.toml", /^api = .*$/m, `api = "${github.url}/api/v3"`);
  await project.edit(
    "agents/hello/config.toml",
    "credentials = []",
    'credentials = ["github_app"]',
  );
  await project.append(
    "agents/hello/config.toml",
    '\n[githubApp]\npermissions = { contents = "write", pull_requests = "write" }\n',
  );
  await project.start({ anyPort: false });
  const { page, ended } = setUpApp(project, "acme");
  const opened = await page;
  expect((await fetch(new URL("/", opened))).status).toBe(404);
  const back = await submit(opened);
  const forged = new URL(back);
  forged.searchParams.set("state", "A".repeat(43));
  expect((await fetch(forged)).status).toBe(400);
  expect((await fetch(back)).status).toBe(200);

  const { code, out, err } = await ended;
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(out).toContain("the GitHub App 4711 is made and stored as github_app");
  expect(out).toContain("ping         200 OK");
  expect(out).toContain("https://github.com/apps/octoapp/installations/new");
  await expect(fetch(back)).rejects.toThrow();
  expect(github.manifests).toMatchObject([
    {
      path: "/organizations/acme/settings/apps/new",
      manifest: {
        hook_attributes: { url, active: true },
        public: false,
        default_permissions: {
          metadata: "read",
          contents: "write",
          issues: "read",
          pull_requests: "write",
        },
        default_events: ["issues", "pull_request"],
      },
    },
  ]);
  const stored = (field: string) =>
    readFile(join(project.home, "credentials/github_app/default", field), "utf8");
  expect([await stored("app_id"), (await stored("private_key")).trim()]).toEqual([
    "4711\n",
    github.pem.trim(),
  ]);
  expect(await stored("email")).toBe("99+octoapp[bot]@users.noreply.127.0.0.1\n");
  expect(await secretOf(project, "github")).toBe(github.hook.secret);
  const [, line = ""] = github.pem.split("\n");
  for (const secret of [line, github.hook.secret]) {
    expect(out + err + project.scheduler.output()).not.toContain(secret);
  }
  const again = await project.al("webhook", "setup", "github", "--app");
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/stored already/) as string,
  });

  // The source's secret stays, as its other webhooks have it: GitHub gets it for the new app.
  const { secret } = github.hook;
  await project.print("creds", "rm", "github_app", "--yes");
  const other = setUpApp(project);
  await fetch(await submit(await other.page));
  const done = await other.ended;
  expect([done.code, done.out]).toEqual([0, expect.stringContaining("200 OK")]);
  expect([github.hook.secret, await secretOf(project, "github")]).toEqual([secret, secret]);
  expect(github.manifests.at(-1)?.path).toBe("/settings/apps/new");
}, 120_000);
