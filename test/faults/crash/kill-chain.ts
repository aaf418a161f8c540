import { sendLoad, type LoadAnswer, type LoadRequest } from "../../features/webhooks/load.ts";
import { pause } from "../../helpers/pause.ts";
import { randomBy } from "../../helpers/random.ts";
import { startArgs } from "./crash-cycle.ts";
import type { CrashProject } from "./crash-project.ts";
import { startDoomed, type Doomed } from "./crash-scheduler.ts";
import { killPoints, type KillPoint } from "./kill-points.ts";

/** A chain of schedulers on one project, each of which is killed. */
export interface Chain {
  readonly project: CrashProject;
  readonly random: () => number;
  /** The receipts of deliveries that were answered with 200. */
  readonly accepted: Set<string>;
  /** The points that did end a scheduler. */
  readonly struck: Set<KillPoint | null>;
  /** Deliveries so far. */
  sent: number;
}

/** A moment of a life; null is a random one. */
export type Moment = KillPoint | null;
type Deliver = (chain: Chain) => LoadRequest;

export function newChain(project: CrashProject, seed: number): Chain {
  const struck = new Set<Moment>([null]);
  return { project, random: randomBy(seed), accepted: new Set(), struck, sent: 0 };
}

/** One scheduler, to its kill at this moment, or at a random one if it does not come there. */
export async function life(
  chain: Chain,
  point: Moment,
  deliver: Deliver,
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const { project, random } = chain;
  const most = point === null || killPoints[point].is === "" ? 1 : 4;
  const order = point === null ? null : { point, nth: 1 + Math.floor(random() * most) };
  const doomed = startDoomed(project, startArgs, order, env);
  const url = await doomed.ready;
  const ms = 500 + random() * 5_000;
  const wasKilled = url === null || (await deliverUntil(chain, { url, doomed, ms, deliver }));
  if (wasKilled) chain.struck.add(point);
  doomed.kill();
  const code = await doomed.gone;
  if (code !== 137) throw new Error(`it ended with ${code}: ${doomed.output()}`);
}

interface Delivering {
  readonly url: string;
  readonly doomed: Doomed;
  readonly ms: number;
  readonly deliver: Deliver;
}

/** Sends bursts until the scheduler is dead, or so many ms are over. Resolves to whether it is dead. */
async function deliverUntil(chain: Chain, { url, doomed, ms, deliver }: Delivering) {
  let isDead: boolean | null = null;
  const over = Promise.race([
    doomed.gone.then(() => true),
    pause(ms, "the point may never be reached", false),
  ]);
  while (isDead === null) {
    await sendAll(chain, url, 1 + Math.floor(chain.random() * 4), deliver);
    const next = pause(chain.random() * 1_500, "deliveries come in bursts", null);
    isDead = await Promise.race([over, next]);
  }
  return isDead;
}

export async function sendAll(chain: Chain, url: string, count: number, deliver: Deliver) {
  const burst = Array.from({ length: count }, () => deliver(chain));
  await sendLoad(url, burst, 2, (answer) => remember(chain, answer));
}

function remember({ accepted }: Chain, { status, text }: LoadAnswer): void {
  if (status === null) return;
  if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  accepted.add((JSON.parse(text) as { receiptId: string }).receiptId);
}

/** A scheduler that gets these deliveries and ends once `open` is 0. */
export async function lastLife(
  chain: Chain,
  open: () => number,
  deliveries: (url: string) => Promise<void>,
  ms: number,
): Promise<void> {
  const doomed = startDoomed(chain.project, startArgs, null);
  const url = await doomed.ready;
  if (url === null) throw new Error(doomed.output());
  await deliveries(url);
  await expect.poll(open, { timeout: ms, interval: 500 }).toBe(0);
  doomed.kill("SIGTERM");
  if ((await doomed.gone) !== 0) throw new Error(doomed.output());
}

/** A delivery about an issue; its id is "<event>-<number>". */
export function issueDelivery(chain: Chain, event: string, number: number): LoadRequest {
  const n = chain.sent++;
  const repository = { full_name: "acme/site" };
  const action = event === "issues" ? "opened" : "created";
  const body = Buffer.from(JSON.stringify({ action, n, issue: { number }, repository }));
  const id = { "x-github-event": event, "x-github-delivery": `${event}-${n}` };
  const headers = { "content-type": "application/json", ...id };
  return { path: "/webhooks/github/open", headers, body };
}
