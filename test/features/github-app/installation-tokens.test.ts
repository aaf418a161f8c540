import type { GithubAppScope } from "../../../streams/agent-config.ts";
import type { Trigger } from "../../../streams/vocabulary.ts";
import { appJwt, askGithub, githubAppOf } from "../../../src/features/github-app/app-api.ts";
import { createInstallationTokens } from "../../../src/features/github-app/installation-tokens.ts";
import { scopeOf } from "../../../src/features/github-app/mint-token.ts";
import { messageOf, reasonOf } from "../../../src/foundation/errors.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { newAppKey, startGithub } from "../../helpers/github-server.ts";
import { perTest } from "../../helpers/per-test.ts";

const made = perTest(
  async () => {
    const github = await startGithub();
    const endings = new Map<string, (() => void)[]>();
    const [warnings, hidden, problems] = [[] as string[], new Set<string>(), [] as string[]];
    const clock = { now: Date.now() };
    github.now = () => clock.now;
    const tokens = createInstallationTokens({
      now: () => clock.now,
      run: (id) => {
        const of = endings.get(id);
        if (of === undefined) return undefined;
        return { warn: (text) => warnings.push(text), onDispose: (end) => of.push(end) };
      },
      hide: ([secret = ""]) => {
        hidden.add(secret);
        return () => hidden.delete(secret);
      },
      onProblem: (text) => problems.push(text),
    });
    const fields = { app_id: github.id, private_key: github.pem, api_url: github.url };
    return {
      github,
      clock,
      app: credentialOf(fields),
      close: tokens.close,
      /** A token for a run, of other fields or for another scope. */
      tokenFor: (
        instanceId: string,
        { isInRun = false, fields: more = {}, ...scope }: Given = {},
      ) =>
        tokens.tokenFor(
          runOf(instanceId, { ...website, ...scope }),
          credentialOf({ ...fields, ...more }),
          isInRun,
        ),
      warnings,
      hidden,
      problems,
      begin: (...ids: string[]) => ids.forEach((id) => endings.set(id, [])),
      end: (id: string) => {
        for (const end of endings.get(id) ?? []) end();
        endings.delete(id);
      },
      minted: () => github.asked.filter((line) => line.startsWith("POST")).length,
    };
  },
  ({ github }) => github.stop(),
);

interface Given extends Partial<GithubAppScope> {
  readonly isInRun?: boolean;
  readonly fields?: Readonly<Record<string, string>>;
}

const credentialOf = (fields: Readonly<Record<string, string>>) => ({
  type: "github_app",
  instance: "default",
  fields,
});
const minute = 60_000;
const website: GithubAppScope = { repos: ["acme/website"], permissions: { contents: "write" } };
const runOf = (instanceId: string, githubApp: GithubAppScope, trigger?: Trigger) => ({
  instanceId,
  agent: anAgent("dev", { githubApp }),
  item: anItem("1", "dev", trigger),
});

describe("the tokens of a GitHub App", () => {
  test("are minted once for all runs of a scope, renewed before they expire, and revoked with the last run", async () => {
    const { tokenFor, close, github, clock, hidden, begin, end, minted } = made();
    begin("a", "b", "c");
    const [first, same] = await Promise.all([
      tokenFor("a"),
      tokenFor("b", { repos: ["Acme/website"] }),
    ]);
    expect([same, minted()]).toEqual([first, 1]);
    expect(github.minted.get(first)).toMatchObject({
      installation: 1,
      repositories: ["website"],
      permissions: { contents: "write" },
    });
    expect(await tokenFor("c", { permissions: { contents: "read" } })).not.toBe(first);
    clock.now += 54 * minute;
    expect(await tokenFor("a")).toBe(first);
    clock.now += 2 * minute;
    const second = await tokenFor("a");
    expect([second === first, minted(), hidden.has(second)]).toEqual([false, 3, true]);
    end("a");
    expect(github.valid).toContain(second);
    end("b");
    end("c");
    await close();
    expect([github.valid, [...hidden], made().problems]).toEqual([[], [], []]);
  });

  test("stay valid while GitHub can't renew them, and later attempts wait", async () => {
    const { tokenFor, close, github, clock, warnings, begin } = made();
    begin("a");
    const first = await tokenFor("a");
    const [installation] = github.installations.splice(0, 1);
    clock.now += 56 * minute;
    const asked = github.asked.length;
    expect(await tokenFor("a")).toBe(first);
    expect(await tokenFor("a")).toBe(first);
    expect([github.asked.length, warnings]).toEqual([asked + 1, []]);
    clock.now += 5 * minute;
    await expect(tokenFor("a")).rejects.toThrow("not installed");
    expect(warnings).toEqual([expect.stringContaining("not installed on acme/website")]);
    if (installation !== undefined) github.installations.push(installation);
    clock.now += minute;
    expect(await tokenFor("a")).not.toBe(first);
    await close();
  });

  test("are used when GitHub's servers know them", async () => {
    const { tokenFor, close, github, begin } = made();
    begin("a");
    github.late = 2;
    await tokenFor("a");
    expect(github.asked.filter((line) => line.includes("repositories"))).toHaveLength(3);
    await close();
  });

  test("are not shared with a run that has its token itself, and are left to such a run when the scheduler stops", async () => {
    const { tokenFor, close, github, begin, end } = made();
    begin("a", "b");
    const own = await tokenFor("a", { isInRun: true });
    expect(await tokenFor("b")).not.toBe(own);
    await close();
    expect(github.valid).toEqual([own]);
    end("a");
    await close();
    expect(github.valid).toEqual([]);
    await expect(tokenFor("a", { isInRun: true })).rejects.toThrow("the run is over");
  });
});

test.each([
  [
    "a key of another app",
    { private_key: newAppKey().pem },
    {},
    /401: A JSON web token could not be decoded. Check that app_id 4711 and private_key of the credential github_app/,
  ],
  ["an unknown app", { app_id: "12" }, {}, /Integration not found. Check that app_id 12/],
  [
    "a text that is no key",
    { private_key: "secret-canary" },
    {},
    /not an RSA private key in PEM. Store .*al creds add github_app --field private_key/,
  ],
  [
    "a permission that the app lacks",
    {},
    { permissions: { contents: "write", administration: "read", issues: "admin" } },
    /lacks the permission administration: read, issues: admin at acme\/website. Grant it/,
  ],
  [
    "a repository outside of the installation",
    {},
    { repos: ["acme/website", "acme/other"] },
    /is not installed on acme\/website, acme\/other. Add the repository/,
  ],
  ["a repository without the app", {}, { repos: ["stark/suit"] }, /not installed on stark\/suit/],
  ["another installation", {}, { repos: ["umbrella/secrets"] }, /lacks the permission contents/],
  ["no GitHub", { api_url: "http://127.0.0.1:1" }, {}, /127.0.0.1:1 does not answer.*reaches it/],
])("minting fails for %s with the cause and a fix", async (_what, fields, scope, message) => {
  const { tokenFor, warnings, begin } = made();
  begin("a");
  const error: unknown = await tokenFor("a", { fields, ...scope } as Given).catch(
    (failure: unknown) => failure,
  );
  expect(reasonOf(error)).toMatch(message);
  expect(warnings).toEqual([reasonOf(error)]);
  expect(JSON.stringify([error, warnings])).not.toMatch(/canary|PRIVATE KEY|ghs_|eyJ/);
});

test("GitHub refuses an app's JWT of a clock that is two minutes ahead or ten behind, and takes one a minute ahead", async () => {
  const { github } = made();
  const app = githubAppOf(made().app);
  const at = (ms: number) =>
    askGithub(app, { path: "/app", token: appJwt(app, github.now() + ms) }).then(
      () => "ok",
      (error: unknown) => messageOf(error).replace(/^.*401: /, ""),
    );
  expect(await Promise.all([0, 59_000, 120_000, -600_000].map(at))).toEqual([
    "ok",
    "ok",
    expect.stringContaining("'Issued at' claim") as string,
    expect.stringContaining("'Expiration time' claim") as string,
  ]);
});

test("an API address without https is refused, as tokens would be sent in the clear", async () => {
  const { tokenFor, begin, warnings } = made();
  begin("a");
  const fields = { api_url: "http://github.acme.test/api/v3" };
  await expect(tokenFor("a", { fields })).rejects.toThrow("not an https address");
  expect(warnings).toEqual([expect.stringContaining("api_url of the credential github_app")]);
});

describe("the repositories of a run's tokens", () => {
  const { permissions } = website;
  const run = (repos: readonly string[], event?: { type: string; repo: string }) =>
    runOf("a", { permissions, repos }, event && ({ kind: "webhook", event } as Trigger));

  test("are those that the agent lists, else the one of its GitHub webhook", () => {
    const event = { type: "github", repo: "acme/api" };
    expect(scopeOf(run([], event)).repos).toEqual(["acme/api"]);
    expect(scopeOf(run(["acme/website"], event)).repos).toEqual(["acme/website"]);
  });

  test("are unknown for other triggers and providers", () => {
    const unknown = /agents\/dev\/config.toml \[githubApp\]: the run's trigger names no repository/;
    expect(() => scopeOf(run([]))).toThrow(unknown);
    expect(() => scopeOf(run([], { type: "gitlab", repo: "acme/api" }))).toThrow(unknown);
  });
});
