import { mkdirSync, rmSync, writeFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { BehaviorSubject } from "rxjs";
import type { ProjectConfig } from "../../../src/foundation/config/project-config.ts";
import {
  missingSecrets,
  credentialChanges,
  pollCredentials,
} from "../../../src/foundation/credentials/credential-changes.ts";
import { credentialStamps } from "../../../src/foundation/credentials/load-credential.ts";
import { pause } from "../../helpers/pause.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { anAgent } from "../../helpers/agents.ts";
import { project } from "../config/samples.ts";

/** The messages about a store in which these have a field, and how to write one. */
function setUp(...there: readonly string[]) {
  const home = tempDir();
  const write = (name: string, value: string): void => {
    const dir = join(home, "credentials", ...name.split(":"));
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, ".field.new"), value, { mode: 0o600 });
    renameSync(join(dir, ".field.new"), join(dir, "field"));
  };
  for (const name of there) write(name, "before");
  const told: string[] = [];
  const { webhooks } = project('[webhooks.hub]\ntype = "github"\ncredential = "default"');
  const docs = { name: "docs", url: "https://mcp.test", command: null, tools: ["*"] };
  const config = anAgent("dev", {
    credentials: ["github_token", "slack_token:ops"],
    mcp: [{ ...docs, credential: "docs", private: false, timeoutSeconds: 60 }],
  });
  const users = { webhooks: () => webhooks, agents: () => [{ config }, { config: null }] };
  const subscription = credentialChanges(pollCredentials(home, 20), users).subscribe((text) =>
    told.push(text),
  );
  onTestFinished(() => subscription.unsubscribe());
  const settled = () => pause(100, "looks at the store would tell more by now");
  /** Resolves once the store is looked at, which the news of a change show; forgets these. */
  const isWatched = async () => {
    let n = 0;
    const changed = () => {
      write("slack_token:ops", `${n++}`);
      return told.length;
    };
    await expect.poll(changed).toBeGreaterThan(0);
    rmSync(join(home, "credentials/slack_token"), { recursive: true });
    await expect.poll(() => told.at(-1)).toMatch(/slack_token:ops was removed/);
    expect(told.filter((text) => !text.includes("slack_token:ops"))).toEqual([]);
    told.splice(0);
  };
  return { home, told, write, settled, isWatched };
}

test("an added, changed or removed credential is logged once, with the agents that use it", async () => {
  const { home, told, write, settled, isWatched } = setUp("github_token:default");
  await isWatched();
  write("github_token:default", "after");
  await expect.poll(() => told).toHaveLength(1);
  write("slack_token:ops", "new");
  await expect.poll(() => told).toHaveLength(2);
  write("github_webhook_secret:default", "new");
  await expect.poll(() => told).toHaveLength(3);
  rmSync(join(home, "credentials/slack_token"), { recursive: true });
  await expect.poll(() => told).toHaveLength(4);
  write("docs:default", "new");
  await expect.poll(() => told).toHaveLength(5);
  await settled();
  const runs = "this affects runs that start from now on";
  expect(told).toEqual([
    `credential github_token:default changed; ${runs}`,
    `credential slack_token:ops was added; ${runs}`,
    "credential github_webhook_secret:default was added; this affects webhook source hub",
    `credential slack_token:ops was removed; ${runs}`,
    "credential docs:default was added; this affects calls of MCP servers, also in runs under way",
  ]);
});

test("changes of unused credentials, and a missing credentials directory, are not logged", async () => {
  const { told, write, settled } = setUp();
  await settled();
  write("other:default", "new");
  write("github_token:spare", "new");
  await settled();
  expect(told).toEqual([]);
});

test("credentialStamps returns the other credentials if one is removed meanwhile", async () => {
  const { home, write } = setUp("github_token:default");
  for (let n = 0; n < 40; n += 1) {
    write("slack_token:ops", "new");
    const look = credentialStamps(home);
    for (let turn = 0; turn < n % 8; turn += 1) await nextTurn();
    rmSync(join(home, "credentials/slack_token"), { recursive: true });
    expect([...(await look).keys()]).toContain("github_token:default");
  }
});

function projectWith(...names: readonly string[]): ProjectConfig {
  const source = { type: "github", credential: "default", allowUnsigned: false };
  const webhooks = Object.fromEntries(names.map((name) => [name, { name, ...source }]));
  return { webhooks } as unknown as ProjectConfig;
}

test("a webhook source whose secret is missing is logged at once, and again when sources change", async () => {
  const home = tempDir();
  const project$ = new BehaviorSubject(projectWith("hub"));
  const told: string[] = [];
  const subscription = missingSecrets(home, project$).subscribe((text) => told.push(text));
  onTestFinished(() => subscription.unsubscribe());
  await expect.poll(() => told).toHaveLength(1);
  expect(told[0]).toMatch(/webhook source hub are refused: .*github_webhook_secret/);
  expect(told[0]).toContain("al creds add github_webhook_secret");
  project$.next(projectWith("hub"));
  const dir = join(home, "credentials/github_webhook_secret/default");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, "secret"), "s", { mode: 0o600 });
  project$.next(projectWith("hub", "other"));
  await pause(100, "a second message would come by now");
  expect(told).toHaveLength(1);
});
