import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  credentialChanges,
  pollCredentials,
} from "../../../src/foundation/credentials/credential-changes.ts";
import { anAgent } from "../../helpers/agents.ts";
import { project } from "../config/samples.ts";

/** What is told of a store in which these have a field, and how to write one. */
function setUp(...there: readonly string[]) {
  const home = mkdtempSync(join(tmpdir(), "al-changes-"));
  const write = (name: string, value: string): void => {
    const dir = join(home, "credentials", ...name.split(":"));
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, ".field.new"), value, { mode: 0o600 });
    renameSync(join(dir, ".field.new"), join(dir, "field"));
  };
  for (const name of there) write(name, "before");
  const told: string[] = [];
  const { webhooks } = project('[webhooks.hub]\ntype = "github"\ncredential = "default"');
  const config = anAgent("dev", { credentials: ["github_token", "slack_token:ops"] });
  const users = { webhooks: () => webhooks, agents: () => [{ config }, { config: null }] };
  const subscription = credentialChanges(pollCredentials(home, 20), users).subscribe((text) =>
    told.push(text),
  );
  onTestFinished(() => {
    subscription.unsubscribe();
    rmSync(home, { recursive: true });
  });
  const settled = () => new Promise((done) => setTimeout(done, 100));
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

test("a credential that comes, changes and goes is told of once each, with whom it counts for", async () => {
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
  await settled();
  const runs = "this affects runs that start from now on";
  expect(told).toEqual([
    `credential github_token:default changed; ${runs}`,
    `credential slack_token:ops was added; ${runs}`,
    "credential github_webhook_secret:default was added; this affects webhook source hub",
    `credential slack_token:ops was removed; ${runs}`,
  ]);
});

test("nothing is told of what nobody here uses, nor of a store that is not there", async () => {
  const { told, write, settled } = setUp();
  await settled();
  write("other:default", "new");
  write("github_token:spare", "new");
  await settled();
  expect(told).toEqual([]);
});
