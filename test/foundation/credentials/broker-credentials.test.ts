import { brokerCredential } from "../../../src/foundation/credentials/broker-credentials.ts";
import type { Credential } from "../../../src/foundation/credentials/load-credential.ts";
import { stageCredentials } from "../../../src/foundation/credentials/stage-credentials.ts";

const projectKey = "6b".repeat(32);

function broker(credential: Credential, { instanceId = "dev-abcdefgh", moreHosts = {} } = {}) {
  return brokerCredential(credential, { projectKey, instanceId, moreHosts });
}

function credential(type: string, fields: Record<string, string>, instance = "default") {
  return { type, instance, fields };
}

const secret = `ghp_${"S3cret".repeat(6)}`;
const github = credential("github_token", { token: secret });

test("a run gets a placeholder instead of a token that is bound to hosts, in each variable", () => {
  const { inRun, bindings } = broker(github);
  const [staged] = stageCredentials([inRun]);
  const [binding] = bindings;
  expect(JSON.stringify(staged)).not.toContain("S3cret");
  expect(staged).toMatchObject({
    fields: { token: binding?.sentinel },
    env: { GITHUB_TOKEN: binding?.sentinel, GH_TOKEN: binding?.sentinel },
    git: { url: "https://github.com", variable: "GITHUB_TOKEN" },
  });
  expect(bindings).toEqual([
    {
      sentinel: binding?.sentinel,
      secret,
      hosts: ["github.com", "api.github.com", "uploads.github.com"],
    },
  ]);
});

test("a placeholder of a token is letters and digits after the prefix that the service's tools expect", () => {
  const sentinel = (type: string, token: string) =>
    broker(credential(type, { token })).bindings[0]?.sentinel ?? "";
  expect(sentinel("github_token", secret)).toMatch(/^ghp_AlSentinel[a-z2-7]{26}$/);
  expect(sentinel("github_token", "github_pat_1")).toMatch(/^github_pat_AlSentinel[a-z2-7]{26}$/);
  expect(sentinel("slack_bot_token", "xoxb-1-2")).toMatch(/^xoxb-AlSentinel/);
  expect(sentinel("github_token", "0123")).toMatch(/^AlSentinel/);
});

test("a placeholder of a token is the same after a restart, and differs by run, field and project", () => {
  const [first] = broker(github).bindings;
  expect(broker(github).bindings[0]?.sentinel).toBe(first?.sentinel);
  const others = [
    broker(github, { instanceId: "dev-zzzzzzzz" }),
    broker(credential("github_token", { token: secret }, "bot")),
    brokerCredential(github, {
      projectKey: "77".repeat(32),
      instanceId: "dev-abcdefgh",
      moreHosts: {},
    }),
  ].map(({ bindings }) => bindings[0]?.sentinel);
  expect(new Set([first?.sentinel, ...others]).size).toBe(4);
});

test("a token for a self-hosted server is bound to that host only", () => {
  const own = credential("github_token", { token: secret, host: "Git.Corp.example." });
  const { inRun, bindings } = broker(own);
  expect(bindings.map(({ hosts }) => hosts)).toEqual([["git.corp.example"]]);
  expect(inRun.fields.host).toBe("Git.Corp.example.");
});

test("a token for a host on another port than 443 is given to the run itself instead of a placeholder", () => {
  const own = credential("gitlab_token", { token: "t0ken-value", host: "git.corp.example:8443" });
  expect(broker(own)).toEqual({ inRun: own, bindings: [] });
});

test("a signing key, a file and a credential without hosts get no placeholder", () => {
  const unbound = [
    credential("aws", { access_key_id: "AKIA", secret_access_key: "s3cr3t-key" }),
    credential("git_ssh", { private_key: "-----BEGIN" }),
    credential("my_own", { word: "w0rd-of-mine" }),
  ];
  for (const one of unbound) expect(broker(one)).toEqual({ inRun: one, bindings: [] });
});

test("the project's config can bind a type of credential, or a single credential, to more hosts", () => {
  const moreHosts = { my_own: ["API.example.com"], "github_token:bot": ["ghe.example.com"] };
  const own = broker(credential("my_own", { word: "w0rd-of-mine", second: "s3cond-word" }), {
    moreHosts,
  });
  expect(own.bindings.map(({ hosts }) => hosts)).toEqual([
    ["api.example.com"],
    ["api.example.com"],
  ]);
  expect(JSON.stringify(own.inRun)).not.toMatch(/of-mine|s3cond/);
  const bot = broker(credential("github_token", { token: secret }, "bot"), { moreHosts });
  expect(bot.bindings[0]?.hosts).toContain("ghe.example.com");
  expect(broker(github, { moreHosts }).bindings[0]?.hosts).not.toContain("ghe.example.com");
});
