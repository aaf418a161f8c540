import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { QuestionView } from "../../../src/foundation/contracts/question-views.ts";
import { fakeTelegram, type FakeTelegram } from "../../features/alerts/chat/fake-telegram.ts";
import { commandAgents } from "../../helpers/command-agents.ts";
import { isLong } from "../../helpers/long.ts";
import { keyPath, startArgs } from "../crash/crash-cycle.ts";
import { randomBy } from "../crash/crash-plan.ts";
import type { CrashProject } from "../crash/crash-project.ts";
import { startDoomed, type Doomed } from "../crash/crash-scheduler.ts";
import { questionPoints, type QuestionPoint } from "../crash/kill-points.ts";
import { attempt, linkOf, race, raceKinds } from "./racers.ts";
import type { Attempt, Raced, RaceKind } from "./racers.ts";
import { pause } from "../../helpers/pause.ts";

/**
 * Runs that ask one question after another, people who answer each at the same time, and a scheduler that is killed
 * again and again meanwhile. `AL_RACES` makes it longer, `AL_RACE_SEED` repeats its choices.
 */
const races = Number(process.env.AL_RACES ?? (isLong ? 1_000 : 24));
const seed = Number(process.env.AL_RACE_SEED ?? Date.now() % 1_000_000);
const lanes = "abcdef".split("").map((name) => `asker-${name}`);
const points = Object.keys(questionPoints) as readonly QuestionPoint[];

/** A question as it is stored. */
interface Stored {
  readonly prompt: string;
  readonly fallback: string | null;
  readonly answer: string | null;
  readonly person: string | null;
}

interface Races {
  readonly project: CrashProject;
  readonly telegram: FakeTelegram;
  readonly random: () => number;
  readonly kinds: ReadonlyMap<number, RaceKind>;
  readonly attempts: Attempt[];
}

test(
  `if several people answer a question at once, the first answer counts and everyone gets a response, in ${races} races`,
  { timeout: 120_000 + races * 2_000 },
  async () => {
    process.stdout.write(`AL_RACE_SEED=${seed}\n`);
    const random = randomBy(seed);
    // Each kind equally often, by each agent.
    const kindAt = (n: number) =>
      raceKinds[(n + Math.floor(n / lanes.length)) % raceKinds.length] ?? "at once";
    const kinds = new Map(Array.from({ length: races }, (_, n) => [n, kindAt(n)] as const));
    const telegram = await fakeTelegram();
    const files = await askers(kinds, telegram);
    const { dir, home } = files;
    const project = { dir, home, marks: dir, remove: () => files.remove() };
    const all: Races = { project, telegram, random, kinds, attempts: [] };
    await life(all, true);
    while (isOpen(all)) await life(all);
    const problems = [...kinds.keys()].flatMap((n) => problemsOf(n, all));
    expect(problems.join("\n"), `AL_RACE_SEED=${seed}`).toBe("");
    checkOutcomes(dir);
  },
);

/** Each agent asks its share of the questions and writes down what it was answered; its next run asks the rest. */
async function askers(kinds: ReadonlyMap<number, RaceKind>, telegram: FakeTelegram) {
  const asking = (dir: string, n: number, kind: RaceKind) => {
    const end = kind.includes("timeout")
      ? `--timeout 1s${kind.includes("without") ? "" : " --default b"}`
      : "--timeout 1h";
    const ask = `al-ask 'race ${n}' --choice a --choice b --choice c ${end} < /dev/null`;
    return `mkdir '${dir}/asked-${n}' 2> /dev/null && a=$(${ask}) && echo "${n} $a" >> '${dir}/answers'`;
  };
  const project = await commandAgents((dir) =>
    Object.fromEntries(
      lanes.map((lane) => {
        const asks = ownOf(lane, kinds).map(([n, kind]) => asking(dir, n, kind));
        return [lane, [...asks, "true"].join("; ")];
      }),
    ),
  );
  // Without a webhook, nothing listens on a port.
  const webhook = '[webhooks.open]\ntype = "github"\nallowUnsigned = true\n';
  const target = '[alerts.ops]\ntype = "telegram"\nanswers = [42]\n';
  await project.append("config.toml", `\n${webhook}${target}`);
  await project.store("telegram_bot", telegram.fields);
  for (const lane of lanes) {
    await project.edit(`agents/${lane}/config.toml`, "timeout = 120", "timeout = 36000");
  }
  return project;
}

/** The questions of one agent. */
function ownOf(lane: string, kinds: ReadonlyMap<number, RaceKind>) {
  return [...kinds].filter(([n]) => n % lanes.length === lanes.indexOf(lane));
}

/** One life of the scheduler, to its kill or to the end of all runs; the first one begins them. */
async function life(all: Races, begin = false): Promise<void> {
  const { project, random, kinds } = all;
  const point = points[Math.floor(random() * (points.length + 1))] ?? null;
  const order = begin || point === null ? null : { point, nth: 1 + Math.floor(random() * 14) };
  const latestMs = random() * 3_000;
  const doomed = startDoomed(project, startArgs, order);
  const url = await doomed.ready;
  if (url === null) return mustBeKilledOrEnd(doomed);
  const key = readFileSync(keyPath(project), "utf8").trim();
  if (begin) {
    const headers = { authorization: `Bearer ${key}` };
    for (const lane of lanes) {
      const unanswered = ownOf(lane, kinds).filter(([, kind]) => kind.includes("without"));
      for (let run = 0; run <= unanswered.length; run += 1)
        await fetch(`${url}/control/trigger/${lane}`, { method: "POST", headers });
    }
  }
  const kill = (): void => void (unfinished(project.dir) > 0 && doomed.kill());
  if (order === null) void pause(latestMs, "the scheduler is killed at a random moment").then(kill);
  await answerAll(all, { url, key }, doomed);
  doomed.kill("SIGTERM");
  await mustBeKilledOrEnd(doomed);
}

/** Answers each open question once, until the scheduler is gone or all runs have ended. */
async function answerAll(all: Races, at: Place, doomed: Doomed): Promise<void> {
  const gone = new AbortController();
  void doomed.gone.then(() => gone.abort());
  const seen = new Map<string, Promise<void>>();
  while (!gone.signal.aborted && isOpen(all)) {
    for (const question of await openQuestions(at)) {
      if (seen.has(question.id)) continue;
      seen.set(question.id, answerIt(all, question, { ...at, gone: gone.signal }));
    }
    await pause(50, "it is asked again");
  }
  await Promise.all(seen.values());
}

/** None if the scheduler was killed. */
async function openQuestions({ url, key }: Place): Promise<readonly QuestionView[]> {
  const init = { headers: { authorization: `Bearer ${key}` } };
  try {
    const response = await fetch(`${url}/api/questions?state=open`, init);
    const { questions } = (await response.json()) as { questions?: readonly QuestionView[] };
    return questions ?? [];
  } catch {
    return [];
  }
}

/** Where a scheduler listens, and its key. */
type Place = Pick<Raced, "url" | "key">;

async function mustBeKilledOrEnd(doomed: Doomed): Promise<void> {
  const code = await doomed.gone;
  if (code !== 137 && code !== 0) throw new Error(`it ended with ${code}: ${doomed.output()}`);
}

/** A question that was raced for under an earlier scheduler needs one answer only. */
async function answerIt(
  { project, telegram, random, kinds, attempts }: Races,
  question: QuestionView,
  at: Pick<Raced, "url" | "key" | "gone">,
): Promise<void> {
  const n = Number(question.prompt.replace("race ", ""));
  const kind = kinds.get(n) ?? "at once";
  const link = linkOf(project.dir, question);
  const raced = { n, kind, question, link, telegram, ...at };
  const isAgain = attempts.some((one) => one.n === n);
  attempts.push(...(isAgain ? [await attempt(raced, "key", "a")] : await race(raced, random)));
}

/** Checks how each run ended. Only a run that asked nothing may be lost, and tried again. */
function checkOutcomes(dir: string): void {
  const asked = rows(dir, "SELECT instance_id, answer FROM questions");
  const answers = Map.groupBy(asked, (row) => row.instance_id);
  const ended = rows(dir, "SELECT instance_id, outcome FROM triggers");
  const expected = ended.map(({ instance_id, outcome }) => {
    const own = answers.get(instance_id);
    if (own?.some(({ answer }) => answer === null)) return { instance_id, outcome: "unanswered" };
    return { instance_id, outcome: own === undefined && outcome === "lost" ? "lost" : "succeeded" };
  });
  expect(ended).toEqual(expected);
}

/** The violations at the end of a race. */
function problemsOf(n: number, all: Races): readonly string[] {
  const { dir } = all.project;
  const stored = rows(dir, `SELECT * FROM questions WHERE prompt = 'race ${n}'`);
  const [question, ...others] = stored as unknown as readonly Stored[];
  if (question === undefined || others.length > 0) return [`${n}: ${stored.length} questions`];
  const given = readFileSync(`${dir}/answers`, "utf8").split("\n");
  const received = given.filter((line) => line.startsWith(`${n} `));
  const own = all.attempts.filter((one) => one.n === n);
  const checks = { ...checksOfEnd(question, own, received), ...checksOfPeople(n, own, all) };
  const broken = Object.entries(checks).filter(([, holds]) => holds !== true);
  return broken.map(([name]) => `${n}: ${name}: ${JSON.stringify({ question, own, received })}`);
}

/** What is stored, received and told is one answer. */
function checksOfEnd(
  question: Stored,
  own: readonly Attempt[],
  received: readonly string[],
): Readonly<Record<string, boolean | undefined>> {
  const [first, ...more] = own.filter(({ status }) => status === 200 || status === 204);
  const person = JSON.parse(question.person ?? "null") as { via: string; name: string } | null;
  const { answer } = question;
  const winner = person === null ? "no person answered in time" : words[person.via];
  return {
    "two answers count": more.length === 0,
    "an answer that counted is not stored":
      first === undefined || (answer === `"${first.choice}"` && person?.via === first.way),
    "an answer that nobody gave is stored":
      person === null
        ? answer === (question.fallback ?? null)
        : own.some(({ way, choice }) => way === person.via && `"${choice}"` === answer),
    "the run got another answer":
      received.length === (answer === null ? 0 : 1) &&
      received.every((line) => line.includes(`"answer":${answer}`)),
    "a late answer is not told who was first": own
      .filter(({ status }) => status === 409)
      .every(({ text }) => text.includes(winner ?? "?")),
  };
}

/** Each person is told what became of their answer. */
function checksOfPeople(n: number, own: readonly Attempt[], { telegram, kinds }: Races) {
  const statuses = (way: Attempt["way"]) => own.filter((one) => one.way === way);
  const isStranger = kinds.get(n) === "a stranger's button";
  return {
    "a forged link counts": statuses("forged link").every(({ status }) =>
      [404, 503, null].includes(status),
    ),
    "a stranger's button counts, or they were not told":
      statuses("stranger").every(({ status }) => [403, null].includes(status)) &&
      (!isStranger || telegram.responseTo(`stranger ${n}`)?.startsWith("You may not answer")),
    "an answer got another status": own.every(({ status }) =>
      [200, 204, 403, 404, 409, 503, null].includes(status),
    ),
  };
}

const words: Readonly<Record<string, string>> = {
  key: "the API key answered",
  link: "ops by a link",
  telegram: "Ada (42) by Telegram",
};

/** A run has not ended, or a press in the chat has no response. */
function isOpen({ project, telegram }: Races): boolean {
  return unfinished(project.dir) > 0 || telegram.openPresses() > 0;
}

function unfinished(dir: string): number {
  return rows(dir, "SELECT 1 FROM triggers WHERE state <> 'ended'").length;
}

function rows(dir: string, sql: string): readonly Readonly<Record<string, unknown>>[] {
  using db = new DatabaseSync(`${dir}/.al/state.db`, { timeout: 5_000, readOnly: true });
  return db.prepare(sql).all();
}
