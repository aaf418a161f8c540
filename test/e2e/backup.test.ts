import { cpSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { deliverIssue, storeIssueSecret } from "./issue-deliveries.ts";

/** An example whose agent takes a while, and a place for its restored copy. */
async function prepare() {
  const project = await LiveProject.copy("examples/pull-request");
  await storeIssueSecret(project);
  const tool = '[[turns.tools]]\nname = "bash"\narguments = { command = "sleep 20" }';
  await project.write("triage.script.toml", `[[turns]]\n${tool}\n[[turns]]\ntext = "done"\n`);
  const folder = tempDir();
  const copy = new LiveProject({
    dir: join(folder, "copy"),
    home: join(folder, "home"),
    remove: () => Promise.resolve(),
  });
  const filter = (path: string) => !path.endsWith("/.al");
  cpSync(project.dir, copy.dir, { recursive: true, filter });
  return { project, copy, file: join(folder, "backup.tgz") };
}

test("a backup made under load and restored after kill -9 has all that was acknowledged before it", async () => {
  const { project, copy, file } = await prepare();
  await project.start();
  const acknowledged: string[] = [];
  for (let count = 0; count < 8; count += 1) acknowledged.push(await deliverIssue(project));
  await expect.poll(async () => (await project.agent("triage"))?.state, slowly).toBe("running");
  const under = { load: true };
  // Far fewer than workQueueSize, beyond which the oldest work is dropped.
  const load = (async () => {
    for (let count = 0; under.load && count < 20; count += 1) {
      await deliverIssue(project);
      await sleep(50);
    }
  })();
  const written = await project.al("backup", file, "--credentials");
  under.load = false;
  await load;
  expect(written).toMatchObject({ code: 0 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await project.scheduler.kill();

  const restored = await copy.al("restore", file, "--credentials");
  expect(restored).toMatchObject({ code: 0 });
  expect(restored.stderr).toContain("runs that were under way: 1");
  expect(readdirSync(copy.path(".al/logs")).join()).toMatch(/triage-.*\.log/);
  await copy.write("triage.script.toml", '[[turns]]\ntext = "done"\n');
  const { apiKey } = await copy.start();
  expect(apiKey).toBe(project.scheduler.apiKey);
  for (const id of acknowledged) {
    expect((await copy.scheduler.api(`/api/stats/webhooks/${id}`)).status).toBe(200);
  }
  const entries = await copy.history("limit=200");
  expect(entries.map(({ outcome }) => outcome)).toContain("lost");
  const ended = async () => {
    const done = await copy.history("limit=200&outcome=succeeded");
    const worked = new Set(done.map(({ receiptId }) => receiptId));
    return acknowledged.filter((id) => !worked.has(id));
  };
  await expect.poll(ended, { timeout: 100_000 }).toEqual([]);
}, 180_000);
