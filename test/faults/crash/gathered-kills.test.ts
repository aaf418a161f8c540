import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sendLoad, type LoadAnswer, type LoadRequest } from "../../features/webhooks/load.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { isLong } from "../../helpers/long.ts";
import { pause } from "../../helpers/pause.ts";
import { randomBy } from "../../helpers/random.ts";
import { clockAhead } from "../../helpers/scheduler.ts";
import { startArgs } from "./crash-cycle.ts";
import { configText, type CrashProject } from "./crash-project.ts";
import { startDoomed, type Doomed } from "./crash-scheduler.ts";
import { killPoints, type KillPoint } from "./kill-points.ts";

/** `AL_KILL_ROUNDS` for more, `AL_KILL_SEED` to repeat the moments of a failure. */
const rounds = Number(process.env.AL_KILL_ROUNDS ?? (isLong ? 200 : 10));
const seed = Number(process.env.AL_KILL_SEED ?? Date.now() % 1_000_000);

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
  ...(["not recovered", "recovered", null, null, null] as const),
];

/** Plays the LLM's command line: notes its receipts, in order, and is done. */
const cli = (marks: string): string => `#!/bin/sh
ids=$(grep -o '"receiptId": "[^"]*"' "$AL_DELIVERIES_FILE" | cut -d '"' -f 4 | tr '\\n' ' ')
echo "$AL_INSTANCE $ids" >> '${marks}/ran'
: > '${marks}/in-run'
sleep 0.05
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","usage":{}}'
`;

async function gatheringProject(): Promise<CrashProject> {
  const project = await LiveProject.of({ "marks/ran": "" });
  const { dir, home } = project;
  const marks = project.path("../marks");
  await project.write("../marks/claude", cli(marks), 0o755);
  await project.write("config.toml", configText(join(marks, "claude"), 10_000));
  await project.write("agents/review/SKILL.md", "Do it.\n");
  await project.write(
    "agents/review/config.toml",
    `models = ["cli"]
credentials = []
scale = 2
timeout = 36000
hooks.post = [": > '${marks}/in-post'; sleep 0.03"]
[[webhooks]]
source = "open"
[debounce]
key = "{repository}#{number}"
quiet = "1s"
most = "2s"
deliver = "all"
[runtime]
type = "host-user"
run_as = "$USER"
`,
  );
  return { dir, home, marks, remove: () => project.remove() };
}

/** The chain of schedulers, and the receipts that were answered with 200. */
interface Chain {
  readonly project: CrashProject;
  readonly random: () => number;
  readonly accepted: Set<string>;
  /** The points that did end a scheduler. */
  readonly struck: Set<KillPoint | null>;
  sent: number;
}

test(
  `a scheduler killed ${rounds} times between the delivery and the end of its gathered run loses no delivery and runs none twice`,
  { timeout: 200_000 + rounds * 40_000 },
  async () => {
    process.stdout.write(`AL_KILL_SEED=${seed}\n`);
    const chain: Chain = {
      project: await gatheringProject(),
      random: randomBy(seed),
      accepted: new Set(),
      struck: new Set([null]),
      sent: 0,
    };
    const context = `AL_KILL_SEED=${seed}, ${chain.project.dir}`;
    for (let round = 0; round < rounds; round += 1) {
      await life(chain, moments[(round + seed) % moments.length] ?? null);
      expect(wrongRows(chain), context).toEqual([]);
    }
    await lastLife(chain);
    expect([...wrongRows(chain), ...wrongRuns(chain)], context).toEqual([]);
    const missing = moments.filter((point) => !chain.struck.has(point));
    expect(rounds < 5 * moments.length ? [] : missing, context).toEqual([]);
  },
);

/** One scheduler, whose clock is set anew, to its kill. */
async function life(chain: Chain, point: KillPoint | null): Promise<void> {
  const { project, random } = chain;
  const hours = Math.floor(random() * 5) - 2;
  const env = clockAhead(hours * 3_600_000 + Math.floor(random() * 60_000));
  const order = point === null ? null : { point, nth: 1 + Math.floor(random() * 2) };
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

function delivery(chain: Chain): LoadRequest {
  const n = chain.sent++;
  const repository = { full_name: "acme/site" };
  const issue = { number: 1 + Math.floor(chain.random() * 2) };
  const body = Buffer.from(JSON.stringify({ action: "opened", n, issue, repository }));
  const id = { "x-github-event": "issues", "x-github-delivery": `gathered-${n}` };
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

/** Lives until nothing gathers, waits or runs. */
async function lastLife(chain: Chain): Promise<void> {
  const doomed = startDoomed(chain.project, startArgs, null);
  if ((await doomed.ready) === null) throw new Error(doomed.output());
  const open = () => {
    const { rows, gathering } = look(chain.project);
    return [...gathering, ...rows.filter(({ state }) => state !== "ended")];
  };
  await expect.poll(open, { timeout: 180_000, interval: 200 }).toEqual([]);
  doomed.kill("SIGTERM");
  if ((await doomed.gone) !== 0) throw new Error(doomed.output());
}

interface Row {
  readonly state: string;
  readonly outcome: string | null;
  readonly attempt: number;
  readonly instanceId: string | null;
  /** Receipt ids as a JSON list. */
  readonly receipts: string;
}

function look({ dir }: CrashProject) {
  using db = new DatabaseSync(join(dir, ".al", "state.db"), { timeout: 2000 });
  const idsOf = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map(({ id }) => String(id));
  return {
    rows: db
      .prepare(
        `SELECT state, outcome, attempt, instance_id AS instanceId, coalesce(gathered, json_array(receipt_id)) AS receipts
         FROM triggers ORDER BY seq`,
      )
      .all() as unknown as readonly Row[],
    gathering: idsOf("SELECT receipt_id AS id FROM gatherings ORDER BY seq"),
    receipts: idsOf("SELECT id FROM receipts ORDER BY seq"),
  };
}

/** Accepted deliveries that are not in exactly one place, and gathered ones out of order. */
function wrongRows({ project, accepted }: Chain): readonly string[] {
  const { rows, gathering, receipts } = look(project);
  const first = rows
    .filter(({ attempt }) => attempt === 1)
    .map((row) => JSON.parse(row.receipts) as string[]);
  const places = [...first.flat(), ...gathering].sort();
  const retries = rows.filter(({ attempt }) => attempt === 2).map((row) => row.receipts);
  const lost = rows
    .filter(({ attempt, outcome }) => attempt === 1 && outcome === "lost")
    .map((row) => row.receipts);
  return [
    ...[...accepted]
      .filter((id) => !receipts.includes(id))
      .map((id) => `${id} was answered 200 and is gone`),
    ...(places.join() === receipts.toSorted().join()
      ? []
      : [`receipts ${receipts.join()}, but work for ${places.join()}`]),
    ...first
      .filter((ids) => ids.join() !== receipts.filter((id) => ids.includes(id)).join())
      .map((ids) => `not in order: ${ids.join()}`),
    ...(retries.toSorted().join() === lost.toSorted().join()
      ? []
      : [`lost ${lost.join()}, retried ${retries.join()}`]),
  ];
}

/** Differences between the work in the store and what the runs themselves noted. */
function wrongRuns({ project }: Chain): readonly string[] {
  const notes = readFileSync(join(project.marks, "ran"), "utf8").trim().split("\n");
  const noted = Map.groupBy(notes, (note) => note.split(" ")[0] ?? "");
  const { rows } = look(project);
  const known = new Set(rows.map(({ instanceId }) => instanceId));
  const unknown = [...noted.keys()].filter((id) => !known.has(id)).map((id) => `${id} is unknown`);
  const wrong = rows.flatMap(({ instanceId, outcome, receipts }) => {
    const own = noted.get(instanceId ?? "") ?? [];
    const expected =
      outcome === "succeeded"
        ? [`${instanceId} ${(JSON.parse(receipts) as string[]).join(" ")}`]
        : [];
    const isRight = own.map((note) => note.trim()).join() === expected.join();
    return isRight && ["succeeded", "lost"].includes(outcome ?? "")
      ? []
      : [`${outcome}: ${receipts}, but ${own.join()}`];
  });
  return [...unknown, ...wrong];
}
