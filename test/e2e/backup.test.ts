import { cpSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { until } from "../helpers/command-agents.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { pause } from "../helpers/pause.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { deliver, storyProject } from "../stories/story-project.ts";

test("a backup made under load and restored after kill -9 contains everything acknowledged before the backup", async () => {
  const project = await storyProject((dir) => ({ worker: until(`${dir}/go`) }));
  const folder = tempDir();
  const [file, dir] = [join(folder, "backup.tgz"), join(folder, "copy")];
  const remove = () => Promise.resolve();
  const copy = new LiveProject({ dir, home: join(folder, "home"), remove });
  cpSync(project.dir, dir, { recursive: true });
  await project.start();
  const acknowledged: string[] = [];
  let count = 0;
  const delivered = async (): Promise<string> => {
    const [status, body] = await deliver(project, (count += 1));
    expect(status).toBe(200);
    return (body as { receiptId: string }).receiptId;
  };
  while (count < 8) acknowledged.push(await delivered());
  await expect.poll(async () => (await project.agent("worker"))?.state, slowly).toBe("running");
  const under = { load: true };
  // Far fewer than workQueueSize, beyond which the oldest work is dropped.
  const load = (async () => {
    while (under.load && count < 28) {
      await delivered();
      await pause(50, "the load is spread over the time of the backup");
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
  expect(readdirSync(copy.path(".al/logs")).join()).toMatch(/worker-.*\.log/);
  await project.write("go", "");
  const { apiKey } = await copy.start();
  expect(apiKey).toBe(project.scheduler.apiKey);
  const entries = await copy.history("limit=200");
  expect(entries.map(({ outcome }) => outcome)).toContain("lost");
  const ended = async () => {
    const done = await copy.history("limit=200&outcome=succeeded");
    const worked = new Set(done.map(({ receiptId }) => receiptId));
    return acknowledged.filter((id) => !worked.has(id));
  };
  await expect.poll(ended, { timeout: 100_000 }).toEqual([]);
}, 180_000);
