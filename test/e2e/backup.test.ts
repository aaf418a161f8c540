import { createHmac, randomUUID } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { expect, onTestFinished, test } from "vitest";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { runAl } from "../helpers/scheduler.ts";
import type { Finished } from "../helpers/scheduler.ts";

const secret = "the-secret-of-the-deliveries";

/** An example whose agent takes a while, and a place for its restored copy. */
async function prepare() {
  const project = await LiveProject.copy("examples/pull-request");
  await project.store("github_webhook_secret/default/secret", secret);
  const tool = '[[turns.tools]]\nname = "bash"\narguments = { command = "sleep 20" }';
  await project.write("triage.script.toml", `[[turns]]\n${tool}\n[[turns]]\ntext = "done"\n`);
  const folder = mkdtempSync(join(tmpdir(), "al-backup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const copy = new LiveProject({
    dir: join(folder, "copy"),
    home: join(folder, "home"),
    remove: () => Promise.resolve(),
  });
  const filter = (path: string) => !path.endsWith("/.al");
  cpSync(project.dir, copy.dir, { recursive: true, filter });
  return { project, copy, file: join(folder, "backup.tgz"), folder };
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

test("a backup under load, restored elsewhere after kill -9, has all that was acknowledged before it", async () => {
  const { project, copy, file } = await prepare();
  await project.start();
  const acknowledged: string[] = [];
  for (let count = 0; count < 8; count += 1) acknowledged.push(await deliver(project));
  await expect.poll(async () => (await project.agent("triage"))?.state, slowly).toBe("running");
  const under = { load: true };
  const load = (async () => {
    while (under.load) await deliver(project);
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
  const entries = await copy.history("limit=200");
  const receipts = new Set(entries.map(({ receiptId }) => receiptId));
  expect(acknowledged.filter((id) => !receipts.has(id))).toEqual([]);
  expect(entries.map(({ outcome }) => outcome)).toContain("lost");
  const ended = async () => {
    const done = await copy.history("limit=200&outcome=succeeded");
    const worked = new Set(done.map(({ receiptId }) => receiptId));
    return acknowledged.filter((id) => !worked.has(id));
  };
  await expect.poll(ended, { timeout: 100_000 }).toEqual([]);
}, 180_000);

test("nothing is overwritten: neither a file, nor a database, nor a credential", async () => {
  const { project, copy, file, folder } = await prepare();
  await project.start();
  await project.scheduler.stop();
  writeFileSync(file, "mine");
  expect(await project.al("backup", file)).toMatchObject({ code: 1 });
  const other = join(folder, "other.tgz");
  await project.print("backup", other, "--credentials");
  const again = await project.al("restore", other);
  expect(again).toMatchObject({ code: 1 });
  expect(again.stderr).toContain("is there already; nothing was restored");
  await copy.store("github_webhook_secret/default/secret", "my own");
  const { stderr } = await copy.al("restore", other, "--credentials");
  expect(stderr).toContain("credentials that were there already and stay: 1");
});

test.each([
  "../outside",
  "logs/../../outside.log",
  "credentials/../../outside",
  "agents/x/SKILL.md",
])("an archive with %s is refused, and changes nothing", async (name) => {
  const { copy, file, folder } = await prepare();
  const archive = pack();
  archive.entry({ name }, "outside");
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  writeFileSync(file, gzipSync(Buffer.concat(chunks)));
  const refused: Finished = await runAl(copy, ["restore", file, "--credentials"]);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain("which no backup has");
  expect(existsSync(copy.path(".al/state.db"))).toBe(false);
  for (const dir of [folder, copy.home]) expect(readdirSync(dir).join()).not.toContain("outside");
});
