import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { forAll, LiveProject } from "../../helpers/live-project.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { configOf, dueAt, inForce, namesIn, putAgent } from "./live.ts";
import { pause } from "../../helpers/pause.ts";

let project: LiveProject;

forAll(async () => {
  project = new LiveProject(await webhookProject());
  await putAgent(project, "steady", dueAt(1));
  await putAgent(project, "busy", dueAt(1, 'scale = 1\nhooks.pre = ["sleep 2; al-exit"]\n'));
  await project.start();
});

/** Writes a text as a slow program does: it empties the file, then adds a piece at a time. */
async function writeSlowly(path: string, text: string, pieces: number, pauseMs: number) {
  const file = await open(path, "w");
  try {
    const size = Math.ceil(text.length / pieces);
    for (let at = 0; at < text.length; at += size) {
      await pause(pauseMs, "a slow program writes");
      await file.write(text.slice(at, at + size));
    }
  } finally {
    await file.close();
  }
}

test("a config that takes a second to write is never half active", async () => {
  await inForce(project, "steady", 1);
  const seen = new Set<string | undefined>();
  const errors = new Set<boolean>();
  const writing = { done: false };
  const looking = (async () => {
    while (!writing.done) {
      const found = await project.agent("steady");
      seen.add(found?.nextRunAt?.slice(14, 16));
      errors.add(found?.error !== null);
      await pause(20, "the agent is looked at all the time");
    }
  })();
  // The schedule comes last: until then nothing of the new config may count.
  const text = dueAt(22).replace(/^schedule.*\n/m, "");
  const last = `schedule = "22 12 1 1 *"\n`;
  const whole = text.replace("[runtime]", `${last}[runtime]`);
  await writeSlowly(configOf(project, "steady"), whole, 8, 130);
  await inForce(project, "steady", 22);
  writing.done = true;
  await looking;
  expect([...seen, "22"].filter((minute) => minute !== "01" && minute !== "22")).toEqual([]);
  // It is told as broken meanwhile, and as well again afterwards.
  expect(errors).toEqual(new Set([false, true]));
  expect(await project.agent("steady")).toMatchObject({ error: null, state: "idle" });
});

test("an agent whose config is deleted is removed, and its work waits for the config", async () => {
  await project.trigger("busy", "busy");
  await expect.poll(() => project.agent("busy")).toMatchObject({ running: 1, queued: 1 });
  const text = await readFile(configOf(project, "busy"), "utf8");
  await rm(configOf(project, "busy"));
  // The run goes on to its end; the row stays for what waits.
  await expect
    .poll(() => project.agent("busy"), { timeout: 15_000 })
    .toMatchObject({ running: 0, queued: 1, nextRunAt: null });
  expect(await project.trigger("busy")).toEqual([404]);
  await writeFile(configOf(project, "busy"), text);
  await expect.poll(outcomes, { timeout: 20_000 }).toEqual(["succeeded", "succeeded"]);
});

const outcomes = async () => (await project.history("agent=busy")).map(({ outcome }) => outcome);

test("a project config that is half written, deleted and restored leaves the last good one active", async () => {
  const path = join(project.dir, "config.toml");
  const text = await readFile(path, "utf8");
  const error = async () => (await project.status()).scheduler.error;
  await writeFile(path, text.slice(0, text.length / 2 + 3));
  await expect.poll(error).not.toBeNull();
  await rm(path);
  await expect.poll(error).toMatch(/config\.toml/);
  await writeFile(configOf(project, "steady"), dueAt(25));
  await inForce(project, "steady", 25);
  expect((await project.status()).scheduler.webhookSources.length).toBeGreaterThan(5);
  await writeFile(path, text);
  await expect.poll(error).toBeNull();
});

test("removing and restoring the agents' folder stops no run, loses no work, and edits count again", async () => {
  const names = () => namesIn(project);
  await project.trigger("busy", "busy");
  await expect.poll(() => project.agent("busy")).toMatchObject({ running: 1, queued: 1 });
  const [agents, away] = [join(project.dir, "agents"), join(project.dir, "away")];
  await rename(agents, away);
  // The row of one that runs stays with its run.
  await expect.poll(names).toEqual(["busy"]);
  await pause(1_000, "the folder is away: no run stops meanwhile");
  await rename(away, agents);
  await expect.poll(names, { timeout: 35_000 }).toEqual(["busy", "steady"]);
  await expect
    .poll(() => project.agent("busy"), { timeout: 20_000 })
    .toMatchObject({ running: 0, queued: 0, lastOutcome: "succeeded" });
  // Between two runs none is queued, and none runs yet.
  const all = Array.from({ length: 4 }, () => "succeeded");
  await expect.poll(outcomes, { timeout: 20_000 }).toEqual(all);
  await writeFile(configOf(project, "steady"), dueAt(26));
  await inForce(project, "steady", 26, 35_000);
}, 120_000);
