import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import type { Alert } from "../../../src/features/alerts/rules/alert.ts";
import type { Outcome } from "../../../streams/vocabulary.ts";
import { isLong } from "../../helpers/long.ts";
import { sendLoad } from "../../features/webhooks/load.ts";
import { alertAgents, alertProject } from "./alert-project.ts";
import { keyPath, startArgs } from "./crash-cycle.ts";
import { randomBy } from "./crash-plan.ts";
import type { CrashProject } from "./crash-project.ts";
import { startDoomed } from "./crash-scheduler.ts";
import { flakyReceiver } from "./flaky-receiver.ts";

/**
 * Every cycle is a whole life of the real program, with runs that fail most of the time and a target that is down half
 * of the time, ended by SIGKILL at a moment. `AL_CRASH_CYCLES` makes it longer, `AL_CRASH_SEED` repeats its moments.
 */
const cycles = Number(process.env.AL_CRASH_CYCLES ?? (isLong ? 100 : 2));
const seed = Number(process.env.AL_CRASH_SEED ?? Date.now() % 1_000_000);

/** Few agents raise no storm, which would be held for a minute. */
const crashed = isLong ? alertAgents : alertAgents.slice(0, 3);

/** A storm is held for a minute at most; failed deliveries are retried at once. */
const drainMs = 90_000;

it(
  `each alert arrives, and none before its event is stored, over ${cycles} crashes`,
  { timeout: drainMs + 60_000 + cycles * 3_000 },
  async () => {
    process.stdout.write(`AL_CRASH_SEED=${seed}\n`);
    const random = randomBy(seed);
    const early: string[] = [];
    const receiver = await flakyReceiver((id) => {
      if (!stored(project).some((one) => one.id === id)) early.push(id);
    });
    onTestFinished(receiver.close);
    const project = await alertProject(receiver.url);
    for (let cycle = 0; cycle < cycles; cycle++) await crash(project, random);
    receiver.stayUp();
    await drain(project);

    expect(early).toEqual([]);
    const deliveries = stored(project);
    const ids = receiver.accepted.map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set(deliveries.map(({ id }) => id)));
    // What came more than once came with the same content.
    expect(new Set(receiver.accepted.map(alertIn)).size).toBe(new Set(ids).size);
    const { alerts, failures } = expected(project);
    expect(sum(deliveries.map(({ alert }) => (alert.topic === "digest" ? alert.count : 1)))).toBe(
      alerts,
    );
    expect(alerts).toBeGreaterThan(isLong ? cycles / 2 : 0);
    const counts = { alerts, failures, deliveries: deliveries.length, requests: ids.length };
    process.stdout.write(`${JSON.stringify({ cycles, refused: receiver.refused(), ...counts })}\n`);
    await project.remove();
  },
);

/** Lets a scheduler live for a moment, while some of its agents are started. */
async function crash(project: CrashProject, random: () => number): Promise<void> {
  const doomed = startDoomed(project, startArgs, null);
  const url = await doomed.ready;
  if (url === null) throw new Error(doomed.output());
  const agents = crashed.filter(() => !isLong || random() < 0.5);
  const headers = { authorization: `Bearer ${readFileSync(keyPath(project), "utf8").trim()}` };
  const requests = agents.map((name) => ({
    path: `/control/trigger/${name}`,
    headers,
    body: Buffer.alloc(0),
  }));
  const sending = sendLoad(url, requests, requests.length, () => undefined);
  await sleep(random() * 1_200);
  doomed.kill();
  await sending;
  await doomed.gone;
}

/** A last scheduler, which lives until all is delivered. */
async function drain(project: CrashProject): Promise<void> {
  const scheduler = startDoomed(project, startArgs, null);
  const url = await scheduler.ready;
  if (url === null) throw new Error(scheduler.output());
  try {
    const headers = { authorization: `Bearer ${readFileSync(keyPath(project), "utf8").trim()}` };
    const end = Date.now() + drainMs;
    for (;;) {
      const open = stored(project).filter(({ state }) => state !== "sent");
      if (open.length === 0 && unfinished(project) === 0) break;
      if (Date.now() > end) throw new Error(`not delivered: ${JSON.stringify(open.slice(0, 5))}`);
      for (const { id } of open.filter(({ attempts }) => attempts > 0))
        await fetch(`${url}/api/alerts/${id}/retry`, { method: "POST", headers });
      await sleep(500);
    }
    scheduler.kill("SIGTERM");
    expect(await scheduler.gone).toBe(0);
  } finally {
    scheduler.kill();
  }
}

interface Stored {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly alert: Alert;
}

function stored(project: CrashProject): readonly Stored[] {
  return rows(project, "SELECT id, state, attempts, alert FROM outbox").map((row) => ({
    id: String(row.id),
    state: String(row.state),
    attempts: Number(row.attempts),
    alert: JSON.parse(String(row.alert)) as Alert,
  }));
}

function unfinished(project: CrashProject): number {
  return rows(project, "SELECT 1 FROM triggers WHERE state <> 'ended'").length;
}

function rows({ dir }: CrashProject, sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(join(dir, ".al", "state.db"), { timeout: 2000, readOnly: true });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

const failing: readonly string[] = [
  "failed",
  "timed_out",
  "out_of_memory",
  "over_budget",
] satisfies Outcome[];

/** How many alerts the stored history is worth: an agent that begins to fail, that recovers, that loses work. */
function expected(project: CrashProject): { alerts: number; failures: number } {
  let [alerts, failures] = [0, 0];
  for (const agent of alertAgents) {
    // One after the other, which a retry is not by its place in the queue.
    const history = rows(
      project,
      `SELECT outcome, dead_letter AS dead FROM triggers WHERE agent = '${agent}'
       ORDER BY coalesce(started_at, ended_at)`,
    );
    let isFailing = false;
    for (const { outcome, dead } of history) {
      const fails = failing.includes(String(outcome)) || (outcome === "lost" && dead === 1);
      if (fails) failures += 1;
      if (fails !== isFailing && (fails || outcome === "succeeded")) {
        alerts += 1;
        isFailing = fails;
      }
    }
    if (history.some(({ dead }) => dead === 1)) alerts += 1;
  }
  return { alerts, failures };
}

function alertIn({ id, body }: { readonly id: string; readonly body: string }): string {
  return `${id} ${body}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
