import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { QuestionView } from "../../../src/foundation/contracts/question-views.ts";
import { clockAhead } from "../../helpers/scheduler.ts";
import { billedProject, billingProvider, wrongCosts } from "./billed-project.ts";
import { keyPath, send, startArgs, type Lane } from "./crash-cycle.ts";
import { check, wholeLife } from "./crash-lane.ts";
import { look, nothingPromised, unfinished } from "./crash-model.ts";
import { randomBy } from "../../helpers/random.ts";
import { startDoomed, type Doomed } from "./crash-scheduler.ts";
import { pause } from "../../helpers/pause.ts";

/** `AL_KILL_ROUNDS` for more, `AL_KILL_SEED` to repeat the moments of a failure. */
const rounds = Number(process.env.AL_KILL_ROUNDS ?? 10);
const seed = Number(process.env.AL_KILL_SEED ?? Date.now() % 1_000_000);

/** The chain of schedulers, and what they accepted. */
interface Chain {
  readonly lane: Lane;
  readonly random: () => number;
  /** Accepted answers, by question. */
  readonly answers: Map<string, string>;
  calls: number;
}

test(
  `a scheduler killed at ${rounds} random moments loses no tick, delivery, MCP call or answer, and charges what the provider counts`,
  { timeout: 400_000 + rounds * 50_000 },
  async () => {
    process.stdout.write(`AL_KILL_SEED=${seed}\n`);
    const random = randomBy(seed);
    const { counted, url } = await billingProvider(random);
    const project = await billedProject(url);
    let minute = Math.ceil(Date.now() / 60_000);
    // The clock of each scheduler is just before the next minute, so that each has a tick.
    const env = () => clockAhead(++minute * 60_000 - 2_000 - Date.now());
    const promised = nothingPromised();
    const lane: Lane = { project, promised, struck: new Set(), sent: 0, env };
    const chain: Chain = { lane, random, answers: new Map(), calls: 0 };
    for (let round = 0; round < rounds; round += 1) {
      await life(chain);
      check(lane);
    }
    await lastLife(chain);
    await wholeLife(lane);
    const context = `AL_KILL_SEED=${seed}, ${project.dir}`;
    expect(wrongAnswers(chain), context).toEqual([]);
    expect(wrongCosts(project, counted.requests), context).toEqual([]);
    expect(ticks(project.dir), context).toBeGreaterThan(0);
  },
);

/** One scheduler, to its kill: at any moment of its start, or while it works. */
async function life(chain: Chain): Promise<void> {
  const { lane, random } = chain;
  const doomed = startDoomed(lane.project, startArgs, null, lane.env?.());
  const afterMs = random() * 3_000;
  if (random() < 0.2)
    void pause(afterMs / 2, "the scheduler is killed while it starts").then(() => doomed.kill());
  const url = await doomed.ready;
  if (url !== null) {
    const deliveries = { worker: 1 + Math.floor(random() * 3), locker: 0 };
    const work = [send(lane, { deliveries, manual: 0 }, url), callMcp(chain, url)];
    void pause(afterMs, "the scheduler is killed while it works").then(() => doomed.kill());
    await Promise.all([...work, answerAll(chain, url, doomed)]);
  }
  const code = await doomed.gone;
  if (code !== 137) throw new Error(`it ended with ${code}: ${doomed.output()}`);
}

/** Works until all questions are answered, all work is done, and a tick has run: on a busy machine the others miss theirs. */
async function lastLife(chain: Chain): Promise<void> {
  const { project, env } = chain.lane;
  const doomed = startDoomed(project, startArgs, null, env?.());
  const url = await doomed.ready;
  if (url === null) throw new Error(doomed.output());
  const answering = answerAll(chain, url, doomed);
  const left = () => [...unfinished(look(project)), ...(ticks(project.dir) > 0 ? [] : ["a tick"])];
  await expect.poll(left, { timeout: 180_000 + rounds * 10_000 }).toEqual([]);
  doomed.kill();
  await answering;
}

const headersOf = ({ lane }: Chain) => {
  const key = readFileSync(keyPath(lane.project), "utf8").trim();
  return {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
};

/** Null if the scheduler was killed meanwhile, or answered with the status `refused`. */
async function post(chain: Chain, url: string, body: object, refused = 0): Promise<string | null> {
  const init = { method: "POST", headers: headersOf(chain), body: JSON.stringify(body) };
  const response = await fetch(url, init).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (response === null || text == null || response.status === refused) return null;
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return text;
}

/** Starts the asker by the MCP server's tool. */
async function callMcp(chain: Chain, url: string): Promise<void> {
  const params = { name: "start", arguments: { agent: "asker", prompt: `call ${chain.calls++}` } };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const text = await post(chain, `${url}/mcp`, call);
  if (text === null) return;
  const [, id] = /"triggerId":"([^"]+)"/.exec(text) ?? [];
  if (id === undefined) throw new Error(text);
  chain.lane.promised.manual.add(id);
}

/** Two people answer each open question at once, until the scheduler is dead. */
async function answerAll(chain: Chain, url: string, doomed: Doomed): Promise<void> {
  const gone = doomed.gone.then(() => true);
  while (!(await Promise.race([gone, pause(100, "it is asked again", false)]))) {
    const init = { headers: headersOf(chain) };
    const response = await fetch(`${url}/api/questions?state=open`, init).catch(() => null);
    const list = (await response?.json().catch(() => null)) as { questions: QuestionView[] } | null;
    for (const { id } of list?.questions ?? []) {
      const answers = chain.random() < 0.5 ? ["a", "b"] : ["b", "a"];
      const path = `${url}/api/questions/${id}/answer`;
      const both = answers.map(async (answer) => {
        const isFirst = (await post(chain, path, { answer }, 409)) !== null;
        if (isFirst && chain.answers.has(id)) throw new Error(`${id} was answered twice`);
        if (isFirst) chain.answers.set(id, answer);
      });
      await Promise.all(both);
    }
  }
}

/** Accepted answers that are not in the store, or that their runs did not get. */
function wrongAnswers({ lane: { project }, answers }: Chain): readonly string[] {
  using db = new DatabaseSync(join(project.dir, ".al", "state.db"), { readOnly: true });
  const read = db.prepare("SELECT instance_id AS run, answer FROM questions WHERE id = ?");
  const got = readFileSync(join(project.marks, "answers"), "utf8").split("\n");
  return [...answers].flatMap(([id, answer]) => {
    const row = read.get(id) as { run: string; answer: string } | undefined;
    const isKept =
      row?.answer === JSON.stringify(answer) &&
      got.some(
        (line) => line.startsWith(`asker ${row.run} `) && line.includes(`"answer":"${answer}"`),
      );
    return isKept ? [] : [`${id} was answered ${answer} and is ${JSON.stringify(row)}`];
  });
}

function ticks(dir: string): number {
  using db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  const ran = "kind = 'cron' AND outcome = 'succeeded'";
  return Number(db.prepare(`SELECT count(*) AS n FROM triggers WHERE ${ran}`).get()?.n);
}
