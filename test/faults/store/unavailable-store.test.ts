import { openStore } from "../../../src/features/open-store.ts";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runAl, startTestScheduler, type TestScheduler } from "../../helpers/scheduler.ts";
import { sendLoad, type LoadAnswer } from "../../features/webhooks/load.ts";
import { brokenPromises, look, nothingPromised, unfinished } from "../crash/crash-model.ts";
import { crashProject } from "../crash/crash-project.ts";
import { fill } from "./fill-disk.ts";
import { delivery, faulty } from "./store-project.ts";
import { perTest } from "../../helpers/per-test.ts";
import { pause } from "../../helpers/pause.ts";

let started: TestScheduler | null = null;
let isMounted = false;
/** In which a run would have begun that must not, in ms. */
const settlingMs = 1500;
const stateDir = () => join(project().dir, ".al");
const faultFile = () => join(project().marks, "fault");

const project = perTest(crashProject);
afterEach(async () => {
  await started?.stop();
  started = null;
  if (isMounted) spawnSync("umount", [stateDir()]);
  isMounted = false;
  await project().remove();
});

async function deliver(scheduler: TestScheduler, n: number): Promise<LoadAnswer> {
  const [answer] = await sendLoad(scheduler.url, [delivery(n)], 1);
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

test("requests get 503 while the disk of the store is full, and are accepted once it has space", async ({
  skip,
}) => {
  mkdirSync(stateDir(), { mode: 0o700 });
  mount("tmpfs", skip);
  const scheduler = (started = await startTestScheduler(project(), { webUi: false }));
  const statusOf = async (path: string, method = "GET"): Promise<number> =>
    (await scheduler.api(path, { method })).status;
  const promised = nothingPromised();
  const believed = async (n: number): Promise<number | null> => {
    const answer = await deliver(scheduler, n);
    if (answer.status === 200)
      promised.receipts.add((JSON.parse(answer.text) as { receiptId: string }).receiptId);
    return answer.status;
  };
  for (const n of [0, 1, 2]) expect(await believed(n)).toBe(200);
  // Two are running when the fault comes, and over before it goes; one waits.
  await expect.poll(() => look(project()).ran.length).toBe(2);
  const filler = join(stateDir(), "filler");
  fill(filler);
  let n = 3;
  await expect.poll(() => believed(n++), { timeout: 60_000, interval: 0 }).toBe(503);
  expect(await statusOf("/control/trigger/worker", "POST")).toBe(503);
  expect(await statusOf("/control/pause", "POST")).toBe(503);
  expect(await statusOf("/health")).toBe(200);
  expect(await statusOf("/health/ready")).toBe(503);
  expect(await statusOf("/control/status")).toBe(200);
  await scheduler.waitForOutput(/worker run succeeded[^]*worker run succeeded/);
  await pause(settlingMs, "nothing is lost meanwhile");
  // What ran was claimed, and is recorded as far as the store could.
  expect([...brokenPromises(promised, look(project()))]).toEqual([]);
  rmSync(filler);
  await expect.poll(() => believed(n)).toBe(200);
  expect(await statusOf("/control/pause", "POST")).toBe(200);
  expect(await statusOf("/health/ready")).toBe(200);
  await expect.poll(() => unfinished(look(project())), { timeout: 60_000 }).toEqual([]);
  expect([...brokenPromises(promised, look(project()))]).toEqual([]);
}, 120_000);

test("a scheduler whose store is unavailable can stop, and the next scheduler finishes the work", async () => {
  const env = faulty(faultFile());
  const first = (started = await startTestScheduler(project(), { webUi: false, env }));
  // The store goes before either run ends: a third one would be claimed, and wait for the store to begin.
  writeFileSync(join(project().marks, "pause"), "1");
  for (const n of [0, 1, 2]) await deliver(first, n);
  await expect.poll(() => look(project()).ran.length).toBe(2);
  writeFileSync(faultFile(), "8");
  await first.waitForOutput(/worker run succeeded[^]*worker run succeeded/);
  await first.stop();
  rmSync(faultFile());
  started = await startTestScheduler(project(), { webUi: false });
  await expect.poll(() => unfinished(look(project())), { timeout: 60_000 }).toEqual([]);
  expect(look(project()).rows.map(({ outcome }) => outcome)).toEqual(Array(3).fill("succeeded"));
  expect(look(project()).ran).toHaveLength(3);
}, 120_000);

test("al start with an unavailable store reports that the store is read-only", async ({ skip }) => {
  openStore(project().dir).close();
  mount("bind", skip);
  spawnSync("mount", ["-o", "remount,bind,ro", stateDir()]);
  const { code, stderr } = await runAl(project(), ["start", "--port", "0"]);
  expect(code).toBe(1);
  expect(stderr).toContain(`${stateDir()}: read-only file system`);
  expect(stderr).toContain("hint: Make the project directory writable");
});

/** Mounts something over the state directory, until the test is over. */
function mount(kind: "bind" | "tmpfs", skip: (why: string) => void): void {
  const how =
    kind === "bind"
      ? ["--bind", stateDir(), stateDir()]
      : ["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", stateDir()];
  isMounted = spawnSync("mount", how).status === 0;
  if (!isMounted) skip("mounting needs root");
}
