import { createHmac, randomUUID } from "node:crypto";
import { cpSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const secret = "the-secret-of-the-deliveries";

/** An example whose agent takes a while, and a place for its restored copy. */
async function prepare() {
  const project = await LiveProject.copy("examples/pull-request");
  await project.store("github_webhook_secret/default/secret", secret);
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

async function deliver(project: LiveProject): Promise<string> {
  const body = JSON.stringify({
    action: "opened",
    issue: { number: 1, title: "It is broken" },
    repository: { full_name: "Codertocat/Hello-World" },
    sender: { login: "somebody" },
  });
  const headers = {
    "content-type": "application/json",
    "x-github-event": "issues",
    "x-github-delivery": randomUUID(),
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
  const url = `${project.scheduler.url}/webhooks/github`;
  const answer = await fetch(url, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { receiptId: string }).receiptId;
}

test("a backup made under load and restored after kill -9 has all that was acknowledged before it", async () => {
  const { project, copy, file } = await prepare();
  await project.start();
  const acknowledged: string[] = [];
  for (let count = 0; count < 8; count += 1) acknowledged.push(await deliver(project));
  await expect.poll(async () => (await project.agent("triage"))?.state, slowly).toBe("running");
  const under = { load: true };
  // Far fewer than workQueueSize, beyond which the oldest work is dropped.
  const load = (async () => {
    for (let count = 0; under.load && count < 20; count += 1) {
      await deliver(project);
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
