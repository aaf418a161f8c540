import { afterEach, expect, it } from "vitest";
import { startTestScheduler } from "../../helpers/scheduler.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { sendLoad } from "../../features/webhooks/load.ts";
import { brokenPromises, look, nothingPromised, unfinished } from "../crash/crash-model.ts";
import { crashProject } from "../crash/crash-project.ts";
import type { CrashProject } from "../crash/crash-project.ts";
import { delivery, faulty, receiptsOf } from "./store-project.ts";

let project: CrashProject;
let scheduler: TestScheduler;

afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

const total = 400;

/** Asks until the store could; what else there was to hear is a list of statuses. */
async function persistently(path: string, method: string, heard: Set<number>): Promise<Response> {
  for (;;) {
    const answer = await scheduler.api(path, { method });
    heard.add(answer.status);
    if (answer.status !== 503) return answer;
  }
}

it("deliveries get 200 or 503 while commits fail before or after the write, and each 200 is stored", async () => {
  project = await crashProject();
  scheduler = await startTestScheduler(project, { webUi: false, env: faulty({ rate: 0.1 }) });
  const promised = nothingPromised();
  const heard = new Set<number>();
  let refused = 0;
  const switching = (async () => {
    for (let n = 0; n < 30; n++) {
      const paused = n % 2 === 0;
      await persistently(`/control/${paused ? "pause" : "resume"}`, "POST", heard);
      const status = (await (await scheduler.api("/control/status")).json()) as {
        scheduler: { paused: boolean };
      };
      expect(status.scheduler.paused).toBe(paused);
      await persistently("/api/stats/triggers?limit=5", "GET", heard);
      if (n % 10 === 0) {
        const answer = await persistently("/control/trigger/worker", "POST", heard);
        promised.manual.add(((await answer.json()) as { triggerId: string }).triggerId);
      }
    }
  })();
  let left = Array.from({ length: total }, (_, n) => delivery(n));
  while (left.length > 0) {
    const answers = await sendLoad(scheduler.url, left, 4);
    for (const { status } of answers) heard.add(status ?? 0);
    for (const id of receiptsOf(answers)) promised.receipts.add(id);
    const again = answers.filter(({ status }) => status === 503);
    refused += again.length;
    left = again.flatMap(({ index }) => left[index] ?? []);
  }
  await switching;
  expect(refused).toBeGreaterThan(0);
  expect([...heard].toSorted((a, b) => a - b)).toEqual([200, 202, 503]);
  expect(promised.receipts.size).toBe(total);
  await expect
    .poll(() => unfinished(look(project)), { timeout: 60_000, interval: 250 })
    .toEqual([]);
  expect(brokenPromises(promised, look(project))).toEqual([]);
}, 180_000);
