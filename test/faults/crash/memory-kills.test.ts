import { join } from "node:path";
import { text } from "node:stream/consumers";
import { DatabaseSync } from "node:sqlite";
import { sendLoad } from "../../features/webhooks/load.ts";
import { createMemoryStore } from "../../../src/features/memory/memory-store.ts";
import { createBlobs } from "../../../src/foundation/files/blobs.ts";
import { openStoreReader } from "../../../src/foundation/store/store.ts";
import { ownUser } from "../../helpers/command-agents.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { isLong } from "../../helpers/long.ts";
import { pause } from "../../helpers/pause.ts";
import { randomBy } from "../../helpers/random.ts";
import { startArgs } from "./crash-cycle.ts";
import { configText, type CrashProject } from "./crash-project.ts";
import { startDoomed } from "./crash-scheduler.ts";
import { killPoints, type KillPoint } from "./kill-points.ts";

/** `AL_MEMORY_ROUNDS` for more, `AL_MEMORY_SEED` to repeat the moments of a failure. */
const rounds = Number(process.env.AL_MEMORY_ROUNDS ?? (isLong ? 200 : 10));
const seed = Number(process.env.AL_MEMORY_SEED ?? Date.now() % 1_000_000);

/** The moments between the claim of a run and the version that its files become; null is a random one. */
const moments: readonly (KillPoint | null)[] = [
  ...(Object.keys(killPoints) as KillPoint[]).filter((point) => killPoints[point].is === "kept"),
  ...(["running", "exited, not recorded", "recorded", "not recovered", "recovered"] as const),
  null,
];

/**
 * Plays the LLM's command line: leaves a file of its own name and a line in a file that all runs write. Each fourth
 * delivery makes its run fail, after it has left them.
 */
const cli = (marks: string): string => `#!/bin/sh
n=$(sed -n 's/.*"n": *\\([0-9]*\\).*/\\1/p' "$AL_PAYLOAD_FILE")
: > '${marks}/in-run'
mkdir -p memory
echo "$AL_INSTANCE" > "memory/$AL_INSTANCE"
echo "$AL_INSTANCE" >> memory/log
sleep 0.3
[ $((n % 4)) -ne 0 ] || exit 1
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","usage":{}}'
`;

async function memoryProject(): Promise<CrashProject> {
  const project = await LiveProject.of({ "marks/ran": "" });
  const { dir, home } = project;
  const marks = project.path("../marks");
  await project.write("../marks/claude", cli(marks), 0o755);
  await project.write("config.toml", configText(join(marks, "claude"), 10_000));
  await project.write("agents/keeper/SKILL.md", "Do it.\n");
  const webhooks = '[[webhooks]]\nsource = "open"\nevents = ["issues"]\n';
  await project.write(
    "agents/keeper/config.toml",
    `models = ["cli"]\ncredentials = []\nscale = 3\n${webhooks}${ownUser}[memory]\nuntrusted = "write"\n`,
  );
  return { dir, home, marks, remove: () => project.remove() };
}

function rowsOf({ dir }: CrashProject) {
  using db = new DatabaseSync(join(dir, ".al", "state.db"), { timeout: 5000 });
  const sql = "SELECT instance_id AS run, state, outcome FROM triggers ORDER BY seq";
  return db.prepare(sql).all() as unknown as readonly {
    readonly run: string | null;
    readonly state: string;
    readonly outcome: string | null;
  }[];
}

/** The texts of all stored versions, the latest first; each content is checked by its hash. */
async function versionsOf({ dir }: CrashProject): Promise<readonly ReadonlyMap<string, string>[]> {
  const store = openStoreReader(dir);
  if (store === null) throw new Error("the project has no store");
  const blobs = createBlobs(dir);
  const versions = store.tables(createMemoryStore).versions("keeper", { limit: 1_000 });
  const texts = versions.map(async ({ files }) => {
    const read = files.map(async ({ path, hash }) => [path, await text(blobs.read(hash))] as const);
    return new Map(await Promise.all(read));
  });
  return Promise.all(texts).finally(() => store.close());
}

test(
  `${rounds} schedulers killed between the claim of a run and the version of its files lose no file of a run that succeeded, and keep none of another`,
  { timeout: 600_000 + rounds * 60_000 },
  async () => {
    process.stdout.write(`AL_MEMORY_SEED=${seed}\n`);
    const project = await memoryProject();
    const random = randomBy(seed);
    const struck = new Set<KillPoint | null>([null]);
    let sent = 0;
    const deliver = (url: string) => {
      const requests = Array.from({ length: 3 }, () => {
        const n = ++sent;
        const body = Buffer.from(JSON.stringify({ action: "opened", n, issue: { number: n } }));
        const id = { "x-github-event": "issues", "x-github-delivery": `d-${n}` };
        const headers = { "content-type": "application/json", ...id };
        return { path: "/webhooks/github/open", headers, body };
      });
      return sendLoad(url, requests, 3, () => undefined);
    };
    for (let round = 0; round < rounds; round += 1) {
      const point = moments[(round + seed) % moments.length] ?? null;
      const order = point === null ? null : { point, nth: 1 + Math.floor(random() * 3) };
      const doomed = startDoomed(project, startArgs, order);
      const url = await doomed.ready;
      if (url !== null) await deliver(url);
      const late = pause(500 + random() * 4_000, "the point may never be reached", false);
      if (await Promise.race([doomed.gone.then(() => true), late])) struck.add(point);
      doomed.kill();
      expect(await doomed.gone, doomed.output()).toBe(137);
    }
    const last = startDoomed(project, startArgs, null);
    await last.ready;
    const open = () => rowsOf(project).filter(({ state }) => state !== "ended").length;
    await expect.poll(open, { timeout: 300_000 + rounds * 20_000, interval: 500 }).toBe(0);
    last.kill("SIGTERM");
    expect(await last.gone, last.output()).toBe(0);
    const context = `AL_MEMORY_SEED=${seed}, ${project.dir}`;
    const rows = rowsOf(project);
    const succeeded = rows.flatMap(({ run, outcome }) => (outcome === "succeeded" ? [run] : []));
    const [latest = new Map<string, string>(), ...earlier] = await versionsOf(project);
    process.stdout.write(
      `${rows.length} runs, ${succeeded.length} succeeded, ${earlier.length + 1} versions, ${[...struck].join(", ")}\n`,
    );
    const isOfAll = (path: string) => path === "log" || path.startsWith("log.conflict-");
    const own = [...latest.keys()].filter((path) => !isOfAll(path));
    expect(own.toSorted(), context).toEqual(succeeded.toSorted());
    const lines = [...latest].flatMap(([path, all]) =>
      isOfAll(path) ? all.trim().split("\n") : [],
    );
    expect([...new Set(lines)].toSorted(), context).toEqual(succeeded.toSorted());
    expect(earlier.length, context).toBe(succeeded.length - 1);
    const missing = moments.filter((point) => !struck.has(point));
    expect(rounds < 5 * moments.length ? [] : missing, context).toEqual([]);
  },
);
