import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { OnNew } from "../../../streams/agent-config.ts";
import { ownUser } from "../../helpers/command-agents.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { isLong } from "../../helpers/long.ts";
import { pause } from "../../helpers/pause.ts";
import { randomBy } from "../../helpers/random.ts";
import { clockAhead } from "../../helpers/scheduler.ts";
import { startArgs } from "./crash-cycle.ts";
import { startDoomed } from "./crash-scheduler.ts";

/** `AL_KEY_ROUNDS` for more, `AL_KEY_SEED` to repeat the moments of a failure. */
const rounds = Number(process.env.AL_KEY_ROUNDS ?? (isLong ? 200 : 10));
const seed = Number(process.env.AL_KEY_SEED ?? Date.now() % 1_000_000);
const keys = 3;

/** The `onNew` of each agent. */
const agents: Readonly<Record<string, OnNew>> = {
  waits: "wait",
  replaces: "replace",
  cancels: "cancel",
};

/** Plays the LLM's command line: locks its key for a while, and writes down each run of a key beside another. */
const cli = (marks: string): string => `#!/bin/sh
key=$(sed -n 's/.*"number": *\\([0-9]*\\).*/\\1/p' "$AL_PAYLOAD_FILE" | head -n 1)
echo "$AL_INSTANCE" >> '${marks}/ran'
exec 9>> '${marks}'/$AL_AGENT-$key
flock -n 9 || echo "$AL_AGENT $key: $AL_INSTANCE is not alone" >> '${marks}/clashes'
for i in 1 2 3 4 5; do sleep 0.1 9>&-; done
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","usage":{}}'
`;

async function keyedProject() {
  const project = await LiveProject.of({
    "project/config.toml": `workQueueSize = 10000
[models.m]
provider = "anthropic"
model = "stand-in"
authType = "none"
[webhooks.open]
type = "github"
allowUnsigned = true
`,
    "marks/ran": "",
    "marks/clashes": "",
  });
  const marks = project.path("../marks");
  const command = join(marks, "claude");
  await project.write("../marks/claude", cli(marks), 0o755);
  for (const [name, onNew] of Object.entries(agents)) {
    await project.write(`agents/${name}/SKILL.md`, "Do it.\n");
    await project.write(
      `agents/${name}/config.toml`,
      `models = ["m"]\ncredentials = []\nscale = 2\ntimeout = 86400
[harness]\ntype = "llm-cli"\ncommand = "${command}"
[concurrency]\nkey = "{repository}#{number}"\nonNew = "${onNew}"
[[webhooks]]\nsource = "open"\nevents = ["issues"]\n${ownUser}`,
    );
  }
  return Object.assign(project, { marks });
}

/** Posts a delivery; its receipt, or null if the scheduler was killed meanwhile. */
async function deliver(url: string, n: number, number: number): Promise<string | null> {
  const body = { action: "opened", n, issue: { number }, repository: { full_name: "acme/site" } };
  const headers = {
    "content-type": "application/json",
    "x-github-event": "issues",
    "x-github-delivery": `keyed-${n}`,
  };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}/webhooks/github/open`, init).catch(() => null);
  const answer = (await response?.json().catch(() => null)) as { receiptId: string } | null;
  return answer?.receiptId ?? null;
}

interface Row {
  readonly id: string;
  readonly agent: keyof typeof agents;
  readonly key: string | null;
  readonly receipt: string;
  /** Place of its delivery. */
  readonly place: number;
  readonly run: string | null;
  readonly state: string;
  readonly outcome: string | null;
  readonly by: string | null;
}

function rowsOf({ dir }: LiveProject): readonly Row[] {
  using db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  return db
    .prepare(
      `SELECT triggers.id, agent, key, receipt_id AS receipt, receipts.seq AS place, instance_id AS run, state,
         outcome, superseded_by AS "by"
       FROM triggers JOIN receipts ON receipts.id = receipt_id ORDER BY triggers.seq`,
    )
    .all() as unknown as readonly Row[];
}

const tried = ["lost", "interrupted"];

/** Broken promises to accepted deliveries, once all work has ended. */
function wrongs(rows: readonly Row[], receipts: ReadonlySet<string>, ran: readonly string[]) {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const endsOf = (agent: string, receipt: string) =>
    rows
      .filter((row) => row.receipt === receipt && row.agent === agent)
      .map(({ outcome }) => outcome ?? "")
      .filter((outcome) => !tried.includes(outcome));
  const ends = Object.keys(agents).flatMap((agent) =>
    [...receipts].map((receipt) => `${agent} ${receipt}: ${endsOf(agent, receipt).join(", ")}`),
  );
  const wrong = rows.filter(({ agent, key, place, outcome, by }) => {
    const newer = byId.get(by ?? "");
    const isNamed = newer?.agent === agent && newer.key === key && newer.place > place;
    const isWrong = outcome === "superseded" && (!isNamed || agents[agent] === "wait");
    return key === null || isWrong;
  });
  return [
    ...ends.filter((line) => !/: (succeeded|superseded)$/.test(line)),
    ...wrong.map((row) => JSON.stringify(row)),
    ...ran.filter((run, index) => ran.indexOf(run) !== index),
  ];
}

/** Deliveries of three keys, until the scheduler is dead. */
async function deliveries(url: string, random: () => number, next: () => number) {
  const accepted: string[] = [];
  for (let burst = 0; burst < 4; burst += 1) {
    const some = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
      deliver(url, next(), 1 + Math.floor(random() * keys)),
    );
    accepted.push(...(await Promise.all(some)).filter((receipt) => receipt !== null));
    await pause(random() * 400, "deliveries come while runs live");
  }
  return accepted;
}

test(
  `${rounds} schedulers killed at random moments lose and repeat no delivery, run no key twice at once, and supersede work for newer work only`,
  { timeout: 400_000 + rounds * 50_000 },
  async () => {
    process.stdout.write(`AL_KEY_SEED=${seed}\n`);
    const random = randomBy(seed);
    const project = await keyedProject();
    const context = `AL_KEY_SEED=${seed}, ${project.dir}`;
    const receipts = new Set<string>();
    let sent = 0;
    const lines = (file: string) =>
      readFileSync(join(project.marks, file), "utf8").split("\n").filter(Boolean);
    const open = () => rowsOf(project).filter(({ state }) => state !== "ended");
    for (let round = 0; round <= rounds; round += 1) {
      const isLast = round === rounds;
      const hours = Math.floor(random() * 5) - 2;
      const doomed = startDoomed(project, startArgs, null, clockAhead(hours * 3_600_000));
      const url = await doomed.ready;
      if (url === null) throw new Error(doomed.output());
      const afterMs = random() * 2_500;
      if (!isLast) void pause(afterMs, "the scheduler is killed").then(() => doomed.kill());
      for (const receipt of await deliveries(url, random, () => sent++)) receipts.add(receipt);
      if (isLast)
        await expect.poll(open, { timeout: 180_000 + rounds * 10_000, interval: 500 }).toEqual([]);
      if (isLast) doomed.kill();
      await doomed.gone;
      expect(lines("clashes"), context).toEqual([]);
    }
    const rows = rowsOf(project);
    expect(wrongs(rows, receipts, lines("ran")), context).toEqual([]);
    const superseded = rows.filter(({ outcome }) => outcome === "superseded");
    const ways = superseded.map(({ agent, run }) => `${agent} ${run === null ? "waited" : "ran"}`);
    expect([...new Set(ways)].toSorted()).toEqual([
      "cancels ran",
      "cancels waited",
      "replaces waited",
    ]);
  },
);
