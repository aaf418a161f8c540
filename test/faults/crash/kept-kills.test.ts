import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryStore } from "../../../src/features/memory/memory-store.ts";
import { openStore } from "../../../src/features/open-store.ts";
import { atTerminal } from "../../../src/foundation/contracts/questions.ts";
import { isLong } from "../../helpers/long.ts";
import { fill } from "../store/fill-disk.ts";
import type { CrashProject } from "./crash-project.ts";
import { keptProject } from "./kept-project.ts";
import { blobPath, look, wrongFiles } from "./kept-work.ts";
import { issueDelivery, lastLife, life, newChain, sendAll } from "./kill-chain.ts";
import type { Chain, Moment } from "./kill-chain.ts";
import { killPoints, type KillPoint } from "./kill-points.ts";

/** `AL_KEPT_ROUNDS` for more, `AL_KEPT_SEED` to repeat the moments of a failure. */
const rounds = Number(process.env.AL_KEPT_ROUNDS ?? (isLong ? 200 : 10));
const seed = Number(process.env.AL_KEPT_SEED ?? Date.now() % 1_000_000);
const isRoot = process.getuid?.() === 0;

/** The moments between the files that a run receives and the version that is kept of those it sends; null is a random one. */
const moments: readonly Moment[] = [
  ...(Object.keys(killPoints) as KillPoint[]).filter((point) => killPoints[point].is === "kept"),
  ...(["running", "in a post hook", "exited, not recorded", "recorded"] as const),
  ...(["not recovered", "recovered", null, null, null] as const),
];

const delivery = (chain: Chain) =>
  issueDelivery(chain, "issues", 1 + Math.floor(chain.random() * 3));
const runsOf = (project: CrashProject, states = ["running", "ended"]) =>
  look(project).rows.flatMap(({ run, state }) =>
    run !== null && states.includes(state) ? run : [],
  );

test(
  `${rounds} schedulers killed while runs leave files keep the files of each run that succeeded and of no other, and mix no conversations`,
  { timeout: 600_000 + rounds * 60_000 },
  async () => {
    process.stdout.write(`AL_KEPT_SEED=${seed}\n`);
    const chain = newChain(await keptProject(), seed);
    const { project } = chain;
    const blobs = join(project.dir, ".al", "blobs");
    mkdirSync(blobs, { recursive: true });
    if (isRoot) spawnSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", blobs]);
    onTestFinished(() => void (isRoot && spawnSync("umount", ["-l", blobs])));
    const known = { excused: new Set<string>(), kept: new Set<string>() };
    const check = () =>
      expect(wrongFiles(project, known), `AL_KEPT_SEED=${seed}, ${project.dir}`).toEqual([]);
    for (let round = 0; round < rounds; round += 1) {
      const moment = moments[(round + seed) % moments.length] ?? null;
      if (isRoot && round % 5 === 3) {
        const before = new Set(runsOf(project, ["ended"]));
        fill(join(blobs, "filler"));
        await life(chain, moment, delivery);
        rmSync(join(blobs, "filler"));
        runsOf(project)
          .filter((run) => !before.has(run))
          .forEach((run) => known.excused.add(run));
      } else await life(chain, moment, delivery);
      check();
    }
    const finish = (count: number) =>
      lastLife(
        chain,
        () => look(project).rows.filter(({ state }) => state !== "ended").length,
        (url) => sendAll(chain, url, count, delivery),
        300_000 + rounds * 20_000,
      );
    await finish(6);
    check();
    await damagedFile(project, () => finish(1));
    check();
    await restoreAll(project);
    const missing = moments.filter((point) => !chain.struck.has(point));
    expect(rounds < 5 * moments.length ? [] : missing).toEqual([]);
    const { rows, versions } = look(project);
    const ends = Object.groupBy(rows, ({ outcome }) => outcome ?? "");
    process.stdout.write(
      `${versions.length} versions, ${versions.filter(({ files }) => files.includes("conflict-")).length} with conflicts; ${Object.entries(
        ends,
      )
        .map(([end, all]) => `${end} ${all?.length}`)
        .join(", ")}; ${known.excused.size} runs with a full disk\n`,
    );
  },
);

/** A run that would receive a damaged file fails, and nothing is kept of it. */
async function damagedFile(project: CrashProject, finish: () => Promise<void>): Promise<void> {
  const before = look(project).versions;
  const [file] = JSON.parse(before.at(-1)?.files ?? "[]") as { hash: string }[];
  const path = blobPath(project, file?.hash ?? "");
  const whole = readFileSync(path);
  writeFileSync(
    path,
    whole.map((byte, at) => (at === 9 ? byte ^ 1 : byte)),
  );
  await finish();
  writeFileSync(path, whole);
  const { rows, versions } = look(project);
  expect(versions).toEqual(before);
  expect(rows.at(-1)).toMatchObject({ outcome: "failed", artifacts: null });
}

/** Each version can be restored, with the same files. */
async function restoreAll({ dir }: CrashProject): Promise<void> {
  const store = openStore(dir);
  const memories = store.tables(createMemoryStore);
  for (const { n, files } of memories.versions("keeper").slice(1))
    expect(await memories.restore("keeper", n, atTerminal)).toMatchObject({ files });
  store.close();
}
