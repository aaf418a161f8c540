import { sendLoad, type LoadAnswer, type LoadRequest } from "../../features/webhooks/load.ts";
import { isLong } from "../../helpers/long.ts";
import { pause } from "../../helpers/pause.ts";
import { randomBy } from "../../helpers/random.ts";
import { clockAhead } from "../../helpers/scheduler.ts";
import { startArgs } from "./crash-cycle.ts";
import { startDoomed, type Doomed } from "./crash-scheduler.ts";
import { keyedProject } from "./keyed-project.ts";
import {
  isGathering,
  linesOf,
  look,
  summary,
  wrongRows,
  wrongRuns,
  type Accepted,
} from "./keyed-work.ts";
import { killPoints, type KillPoint } from "./kill-points.ts";

/** `AL_KEY_ROUNDS` for more, `AL_KEY_SEED` to repeat the moments of a failure. */
const rounds = Number(process.env.AL_KEY_ROUNDS ?? (isLong ? 200 : 10));
const seed = Number(process.env.AL_KEY_SEED ?? Date.now() % 1_000_000);
const keys = 2;

/** The moments between an accepted delivery and the recorded end of its run; null is a random one. */
const moments: readonly (KillPoint | null)[] = [
  ...(Object.keys(killPoints) as KillPoint[]).filter(
    (point) => killPoints[point].is === "gathered",
  ),
  ...([
    "receipt committed, not answered",
    "answered, queued",
    "claimed",
    "begun, not asked",
  ] as const),
  ...(["started", "running", "in a post hook", "exited, not recorded", "recorded"] as const),
  ...(["not recovered", "recovered", null, null, null, null] as const),
];

/** The chain of schedulers. */
interface Chain extends Accepted {
  readonly random: () => number;
  /** The points that did end a scheduler. */
  readonly struck: Set<KillPoint | null>;
  sent: number;
}

test(
  `${rounds} schedulers killed between a delivery and the end of its run lose and repeat no delivery, run no key twice at once, and supersede work for newer work only`,
  { timeout: 600_000 + rounds * 60_000 },
  async () => {
    process.stdout.write(`AL_KEY_SEED=${seed}\n`);
    const chain: Chain = {
      project: await keyedProject(),
      random: randomBy(seed),
      accepted: new Set(),
      struck: new Set([null]),
      sent: 0,
    };
    const context = `AL_KEY_SEED=${seed}, ${chain.project.dir}`;
    for (let round = 0; round < rounds; round += 1) {
      await life(chain, moments[(round + seed) % moments.length] ?? null);
      expect([...wrongRows(chain), ...linesOf(chain, "clashes")], context).toEqual([]);
    }
    await lastLife(chain);
    process.stdout.write(`${summary(chain)}\n`);
    const wrong = [...wrongRows(chain), ...wrongRuns(chain), ...linesOf(chain, "clashes")];
    expect(wrong, context).toEqual([]);
    const missing = moments.filter((point) => !chain.struck.has(point));
    expect(rounds < 5 * moments.length ? [] : missing, context).toEqual([]);
    const { rows } = look(chain.project);
    const superseded = rows.filter((row) => row.outcome === "superseded" && !isGathering(row));
    const ways = superseded.map(({ agent, run }) => `${agent} ${run === null ? "waited" : "ran"}`);
    expect([...new Set(ways)].toSorted(), context).toEqual([
      "cancels ran",
      "cancels waited",
      "replaces waited",
    ]);
  },
);

/** One scheduler, whose clock is set anew, to its kill. */
async function life(chain: Chain, point: KillPoint | null): Promise<void> {
  const { project, random } = chain;
  // Behind the runs' own clock: to a scheduler ahead of it they would have ended before they were adopted.
  const env = clockAhead(-Math.floor(random() * 5 * 3_600_000));
  const most = point === null || killPoints[point].is === "" ? 1 : 4;
  const order = point === null ? null : { point, nth: 1 + Math.floor(random() * most) };
  const doomed = startDoomed(project, startArgs, order, env);
  const url = await doomed.ready;
  const wasKilled =
    url === null || (await deliverUntil(chain, url, doomed, 500 + random() * 5_000));
  if (wasKilled) chain.struck.add(point);
  doomed.kill();
  const code = await doomed.gone;
  if (code !== 137) throw new Error(`it ended with ${code}: ${doomed.output()}`);
}

/** Sends bursts until the scheduler is dead, or so many ms are over. Resolves to whether it is dead. */
async function deliverUntil(chain: Chain, url: string, doomed: Doomed, ms: number) {
  let isDead: boolean | null = null;
  const over = Promise.race([
    doomed.gone.then(() => true),
    pause(ms, "the point may never be reached", false),
  ]);
  while (isDead === null) {
    const burst = Array.from({ length: 1 + Math.floor(chain.random() * 4) }, () => delivery(chain));
    await sendLoad(url, burst, 2, (answer) => remember(chain, answer));
    const next = pause(chain.random() * 1_500, "deliveries come in bursts", null);
    isDead = await Promise.race([over, next]);
  }
  return isDead;
}

function delivery(
  chain: Chain,
  event = chain.random() < 0.5 ? "issues" : "issue_comment",
  number = 1 + Math.floor(chain.random() * keys),
): LoadRequest {
  const n = chain.sent++;
  const repository = { full_name: "acme/site" };
  const issue = { number };
  const action = event === "issues" ? "opened" : "created";
  const body = Buffer.from(JSON.stringify({ action, n, issue, repository }));
  const id = { "x-github-event": event, "x-github-delivery": `${event}-${n}` };
  return {
    path: "/webhooks/github/open",
    headers: { "content-type": "application/json", ...id },
    body,
  };
}

function remember({ accepted }: Chain, { status, text }: LoadAnswer): void {
  if (status === null) return;
  if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  accepted.add((JSON.parse(text) as { receiptId: string }).receiptId);
}

/** Gets work of one key at once, and lives until nothing gathers, waits or runs. */
async function lastLife(chain: Chain): Promise<void> {
  const doomed = startDoomed(chain.project, startArgs, null);
  const url = await doomed.ready;
  if (url === null) throw new Error(doomed.output());
  const burst = Array.from({ length: 6 }, () => delivery(chain, "issues", 1));
  await sendLoad(url, burst, 1, (answer) => remember(chain, answer));
  const open = () => {
    const { rows, gathering } = look(chain.project);
    return gathering.length + rows.filter(({ state }) => state !== "ended").length;
  };
  await expect.poll(open, { timeout: 300_000 + rounds * 20_000, interval: 500 }).toBe(0);
  doomed.kill("SIGTERM");
  if ((await doomed.gone) !== 0) throw new Error(doomed.output());
}
