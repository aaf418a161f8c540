import { openStore } from "../../../src/features/open-store.ts";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sendLoad, type LoadAnswer, type LoadRequest } from "../../features/webhooks/load.ts";
import { look, type Promised } from "./crash-model.ts";
import type { CrashPlan } from "./crash-plan.ts";
import { configText, queueSizes, type CrashProject } from "./crash-project.ts";
import { startDoomed, type Doomed } from "./crash-scheduler.ts";
import { pause } from "../../helpers/pause.ts";

/** A chain of crashes on one project. */
export interface Lane {
  readonly project: CrashProject;
  readonly promised: Promised;
  /** The points that did end the program. */
  readonly struck: Set<string>;
  /** Deliveries so far. */
  sent: number;
  /** More of each scheduler's environment; none by default. */
  readonly env?: () => NodeJS.ProcessEnv;
}

/** A point that a process does not come to in this time it will never come to, in ms. */
const tooLateMs = 30_000;

export const startArgs = ["start", "--port", "0"];

/** Does what the plan says, until the scheduler is dead. */
export function crashOnce(lane: Lane, plan: CrashPlan): Promise<void> {
  if (plan.point?.startsWith("config ")) return crashOfChange(lane, plan);
  if (plan.point === "migrating") return crashOfMigration(lane, plan);
  if (plan.point?.startsWith("key ")) rmSync(keyPath(lane.project), { force: true });
  return crashOfScheduler(lane, plan);
}

export function keyPath({ home }: CrashProject): string {
  return join(home, "credentials", "gateway_api_key", "default", "key");
}

async function crashOfScheduler(lane: Lane, plan: CrashPlan): Promise<void> {
  const { point } = plan;
  const doomed = startDoomed(lane.project, startArgs, point === null ? null : { ...plan, point });
  const url = await doomed.ready;
  let isLate = false;
  if (url !== null) {
    const sending = send(lane, plan, url);
    isLate = await Promise.race([
      doomed.gone.then(() => false),
      pause(plan.latestMs, "the point may never be reached", true),
    ]);
    doomed.kill();
    await sending;
  }
  await mustBeKilled(doomed);
  if (plan.endsRuns) killRuns(lane);
  if (!isLate && point !== null) lane.struck.add(point);
}

/** Kills the supervisors of the project's runs, and with each its run: a machine that goes down. */
function killRuns({ project, promised }: Lane): void {
  for (const { state, instanceId } of look(project).rows) {
    if (state === "running" && instanceId !== null) promised.killed.add(instanceId);
  }
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (args.includes("_run-agent") && args.includes(project.dir)) {
        process.kill(Number(pid), "SIGKILL");
      }
    } catch {
      // It is gone.
    }
  }
}

async function mustBeKilled(doomed: Doomed): Promise<void> {
  AbortSignal.timeout(tooLateMs).addEventListener("abort", () => doomed.kill("SIGTERM"));
  const code = await doomed.gone;
  if (code !== 137) throw new Error(`it ended with ${code} and wrote:\n${doomed.output()}`);
}

/** Sends what the plan says at once, and keeps the answers' promises in mind. */
export async function send(
  lane: Lane,
  { deliveries, manual }: Pick<CrashPlan, "deliveries" | "manual">,
  url: string,
): Promise<void> {
  const requests = [
    ...Array.from({ length: deliveries.worker }, () => delivery(lane, "issues")),
    ...Array.from({ length: deliveries.locker }, () => delivery(lane, "issue_comment")),
    ...Array.from({ length: manual }, () => trigger(lane.project)),
  ];
  await sendLoad(url, requests, requests.length, (answer) => believe(lane.promised, answer));
}

function believe({ receipts, manual }: Promised, { status, text }: LoadAnswer): void {
  if (status === null) return;
  if (status !== 200 && status !== 202) throw new Error(`answered ${status}: ${text}`);
  const told = JSON.parse(text) as { receiptId?: string; triggerId?: string };
  if (told.receiptId !== undefined) receipts.add(told.receiptId);
  if (told.triggerId !== undefined) manual.add(told.triggerId);
}

const delivery = (lane: Lane, event: string) => githubDelivery("crash", lane.sent++, event);

/** A delivery to an agent of these projects; the same bytes and id whenever it is asked for. */
export function githubDelivery(series: string, n: number, event = "issues"): LoadRequest {
  const repository = { full_name: "acme/site" };
  const body = JSON.stringify({ action: "opened", n, issue: { number: n }, repository });
  const headers = {
    "content-type": "application/json",
    "x-github-event": event,
    "x-github-delivery": `${series}-${n}`,
  };
  return { path: "/webhooks/github/open", headers, body: Buffer.from(body) };
}

function trigger(project: CrashProject): LoadRequest {
  const key = readFileSync(keyPath(project), "utf8").trim();
  const headers = { authorization: `Bearer ${key}` };
  return { path: "/control/trigger/worker", headers, body: Buffer.alloc(0) };
}

/** A change of `config.toml` that is cut off leaves the old text or the new one. */
async function crashOfChange(lane: Lane, { point, nth }: CrashPlan): Promise<void> {
  const { project } = lane;
  const path = join(project.dir, "config.toml");
  const before = readFileSync(path, "utf8");
  const texts = queueSizes.map((size) => configText(join(project.marks, "claude"), size));
  const other = queueSizes[texts.indexOf(before) === 0 ? 1 : 0];
  const change = ["config", "--set", `workQueueSize=${other}`];
  const doomed = startDoomed(project, change, point === null ? null : { point, nth });
  await mustBeKilled(doomed);
  const after = readFileSync(path, "utf8");
  if (!texts.includes(after)) throw new Error(`config.toml is neither old nor new:\n${after}`);
  if (point !== null) lane.struck.add(point);
}

/** A database that was being made is made anew by who comes next. */
async function crashOfMigration(lane: Lane, { nth }: CrashPlan): Promise<void> {
  const dir = `${lane.project.dir}-${lane.sent}-new`;
  mkdirSync(dir);
  cpSync(join(lane.project.dir, "config.toml"), join(dir, "config.toml"));
  const project = { ...lane.project, dir };
  await mustBeKilled(startDoomed(project, startArgs, { point: "migrating", nth }));
  openStore(dir).close();
  lane.struck.add("migrating");
}
