import { isLong } from "../../helpers/long.ts";
import { clockAhead } from "../../helpers/scheduler.ts";
import {
  issueDelivery,
  lastLife,
  life,
  newChain,
  sendAll,
  type Chain,
  type Moment,
} from "./kill-chain.ts";
import { keyedProject } from "./keyed-project.ts";
import {
  isGathering,
  linesOf,
  look,
  openWork,
  summary,
  wrongRows,
  wrongRuns,
} from "./keyed-work.ts";
import { killPoints, type KillPoint } from "./kill-points.ts";

/** `AL_KEY_ROUNDS` for more, `AL_KEY_SEED` to repeat the moments of a failure. */
const rounds = Number(process.env.AL_KEY_ROUNDS ?? (isLong ? 200 : 10));
const seed = Number(process.env.AL_KEY_SEED ?? Date.now() % 1_000_000);
const keys = 2;

/** The moments between an accepted delivery and the recorded end of its run; null is a random one. */
const moments: readonly Moment[] = [
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

/** Deliveries of issues, or of comments that gather. */
function delivery(chain: Chain) {
  const event = chain.random() < 0.5 ? "issues" : "issue_comment";
  return issueDelivery(chain, event, 1 + Math.floor(chain.random() * keys));
}

test(
  `${rounds} schedulers killed between a delivery and the end of its run lose and repeat no delivery, run no key twice at once, and supersede work for newer work only`,
  { timeout: 600_000 + rounds * 60_000 },
  async () => {
    process.stdout.write(`AL_KEY_SEED=${seed}\n`);
    const chain = newChain(await keyedProject(), seed);
    const context = `AL_KEY_SEED=${seed}, ${chain.project.dir}`;
    for (let round = 0; round < rounds; round += 1) {
      // Behind the runs' own clock: to a scheduler ahead of it they would have ended before they were adopted.
      const env = clockAhead(-Math.floor(chain.random() * 5 * 3_600_000));
      await life(chain, moments[(round + seed) % moments.length] ?? null, delivery, env);
      expect([...wrongRows(chain), ...linesOf(chain, "clashes")].join("\n"), context).toBe("");
    }
    const open = () => openWork(chain);
    // Six of one key at once.
    const last = (url: string) => sendAll(chain, url, 6, (one) => issueDelivery(one, "issues", 1));
    await lastLife(chain, open, last, 300_000 + rounds * 20_000);
    process.stdout.write(`${summary(chain)}\n`);
    const wrong = [...wrongRows(chain), ...wrongRuns(chain), ...linesOf(chain, "clashes")];
    // As a text, a failure is whole in the message.
    expect(wrong.join("\n"), context).toBe("");
    const missing = moments.filter((point) => !chain.struck.has(point));
    const isWhole = rounds >= 5 * moments.length;
    expect(isWhole ? missing : [], context).toEqual([]);
    const { rows } = look(chain.project);
    const superseded = rows.filter((row) => row.outcome === "superseded" && !isGathering(row));
    const ways = superseded.map(({ agent, run }) => `${agent} ${run === null ? "waited" : "ran"}`);
    const known = ["cancels ran", "cancels waited", "replaces waited"];
    // Which of them a few rounds have depends on the machine's speed.
    const found = [...new Set(ways)].toSorted();
    const due = isWhole ? known : known.filter((way) => found.includes(way));
    expect(found, context).toEqual(due);
  },
);
