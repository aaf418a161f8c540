import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BehaviorSubject } from "rxjs";
import { expect, onTestFinished, test } from "vitest";
import type { ProjectConfig } from "../../../src/foundation/config/project-config.ts";
import { missingSecrets } from "../../../src/foundation/credentials/missing-secrets.ts";

function projectWith(...names: readonly string[]): ProjectConfig {
  const source = { type: "github", credential: "default", allowUnsigned: false };
  const webhooks = Object.fromEntries(names.map((name) => [name, { name, ...source }]));
  return { webhooks } as unknown as ProjectConfig;
}

test("a source whose secret is not there is told at once and when sources change", async () => {
  const home = mkdtempSync(join(tmpdir(), "al-secrets-"));
  const project$ = new BehaviorSubject(projectWith("hub"));
  const told: string[] = [];
  const subscription = missingSecrets(home, project$).subscribe((text) => told.push(text));
  onTestFinished(() => {
    subscription.unsubscribe();
    rmSync(home, { recursive: true });
  });
  await expect.poll(() => told).toHaveLength(1);
  expect(told[0]).toMatch(/webhook source hub are refused: .*github_webhook_secret/);
  expect(told[0]).toContain("al creds add github_webhook_secret");
  project$.next(projectWith("hub"));
  const dir = join(home, "credentials/github_webhook_secret/default");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, "secret"), "s", { mode: 0o600 });
  project$.next(projectWith("hub", "other"));
  await new Promise((done) => setTimeout(done, 100));
  expect(told).toHaveLength(1);
});
