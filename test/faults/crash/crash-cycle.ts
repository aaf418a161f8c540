import { openStore } from "../../../src/features/open-store.ts";
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sendLoad, type LoadAnswer, type LoadRequest } from "../../features/webhooks/load.ts";
import type { Promised } from "./crash-model.ts";
import { killPoints, type KillPoint } from "./kill-points.ts";
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

/** A process that ends at this point, when it comes there for the nth time. */
export interface Kill {
  readonly point: KillPoint;
  readonly nth: number;
}

/** Gives a scheduler work until it is dead. */
export async function crashOnce(lane: Lane, kill: Kill): Promise<void> {
  const { point } = kill;
  if (point.startsWith("config ")) await crashOfChange(lane, kill);
  else if (point === "migrating") await crashOfMigration(lane, kill);
  else if (await crashOfScheduler(lane, kill)) lane.struck.add(point);
}

export function keyPath({ home }: CrashProject): string {
  return join(home, "credentials", "gateway_api_key", "default", "key");
}

/** Whether the scheduler came to the point. */
async function crashOfScheduler(lane: Lane, kill: Kill): Promise<boolean> {
  if (kill.point.startsWith("key ")) rmSync(keyPath(lane.project), { force: true });
  const isCrowded = killPoints[kill.point].is === "crowded";
  const deliveries = { worker: isCrowded ? 10 : 2, locker: 1 };
  const doomed = startDoomed(lane.project, startArgs, kill);
  const url = await doomed.ready;
  let isLate = false;
  if (url !== null) {
    const sending = send(lane, { deliveries, manual: 1 }, url);
    isLate = await Promise.race([
      doomed.gone.then(() => false),
      pause(15_000, "the point may never be reached", true),
    ]);
    doomed.kill();
    await sending;
  }
  await mustBeKilled(doomed);
  return !isLate;
}

async function mustBeKilled(doomed: Doomed): Promise<void> {
  AbortSignal.timeout(tooLateMs).addEventListener("abort", () => doomed.kill("SIGTERM"));
  const code = await doomed.gone;
  if (code !== 137) throw new Error(`it ended with ${code} and wrote:\n${doomed.output()}`);
}

/** Work for each agent by webhook, and for the worker by hand. */
interface Sent {
  readonly deliveries: { readonly worker: number; readonly locker: number };
  readonly manual: number;
}

/** Sends work at once, and keeps the answers' promises in mind. */
export async function send(lane: Lane, { deliveries, manual }: Sent, url: string): Promise<void> {
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
async function crashOfChange({ project, struck }: Lane, kill: Kill): Promise<void> {
  const path = join(project.dir, "config.toml");
  const before = readFileSync(path, "utf8");
  const texts = queueSizes.map((size) => configText(join(project.marks, "claude"), size));
  const other = queueSizes[texts.indexOf(before) === 0 ? 1 : 0];
  const change = ["config", "--set", `workQueueSize=${other}`];
  const doomed = startDoomed(project, change, kill);
  await mustBeKilled(doomed);
  const after = readFileSync(path, "utf8");
  if (!texts.includes(after)) throw new Error(`config.toml is neither old nor new:\n${after}`);
  struck.add(kill.point);
}

/** A database that was being made is made anew by who comes next. */
async function crashOfMigration(lane: Lane, kill: Kill): Promise<void> {
  const dir = `${lane.project.dir}-${lane.sent}-new`;
  mkdirSync(dir);
  cpSync(join(lane.project.dir, "config.toml"), join(dir, "config.toml"));
  const project = { ...lane.project, dir };
  await mustBeKilled(startDoomed(project, startArgs, kill));
  openStore(dir).close();
  lane.struck.add(kill.point);
}
