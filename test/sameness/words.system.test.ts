import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { prepareVersions } from "../../src/features/memory/versions.ts";
import { createQuestionStore } from "../../src/features/people/question-store.ts";
import { openStore } from "../../src/features/open-store.ts";
import type { Question } from "../../src/foundation/contracts/questions.ts";
import { createBlobs } from "../../src/foundation/files/blobs.ts";
import type { Store } from "../../src/foundation/store/store.ts";
import type { Redacted } from "../../src/foundation/credentials/redactor.ts";
import { manualItem } from "../foundation/store/support.ts";
import { listen } from "../helpers/listen.ts";
import { runHere, wordsOf } from "../interfaces/cli/fake-operator.ts";
import { commandsOf, env, makeProject, now, settled } from "./made-project.ts";
import type { LiveProject } from "../helpers/live-project.ts";

// `vitest run <this file> -u` writes the fixtures anew: each difference is a decision. A new command is a line without
// its output.

const question: Question = {
  id: "0198c0de-7a11-7000-8000-00005ec0ffee",
  kind: "ask",
  agent: "deploy-web",
  state: "open",
  instanceId: "deploy-web-aaaaaaaa",
  subject: "1",
  at: now - 60_000,
  until: now + 60_000,
  form: { kind: "boolean" },
  gates: [],
  fallback: null,
  answer: null,
  answeredAt: null,
  by: null,
  prompt: "Deploy?",
};

/** The made day in a project that also has a broken agent, a skill without a config, budgets, alerts and a question. */
async function wordsProject(lastAliveAt?: number): Promise<LiveProject> {
  const project = await makeProject();
  await project.append(
    "config.toml",
    `[models.other]
provider = "openai"
model = "gpt-5"
[budget]
month = 20
[alerts.ops]
type = "ntfy"
[alerts.chat]
type = "webhook"
`,
  );
  const ops = createServer((_request, response) => response.end("{}"));
  onTestFinished(() => void ops.close());
  await project.store("ntfy_topic", { url: `http://127.0.0.1:${await listen(ops)}/ops` });
  await project.store("alert_webhook", {
    url: "http://127.0.0.1:1/",
    secret: `whsec_${"A".repeat(32)}`,
  });
  await project.write("agents/bad/SKILL.md", "Do it.\n");
  await project.write("agents/bad/config.toml", 'schedule = "every day"\n');
  await project.write("agents/skillonly/SKILL.md", "Do it.\n");
  mkdirSync(project.path("agents/empty"));
  const store = openStore(project.dir);
  await store.work.enqueue([manualItem("one", "bad", now)]);
  if (lastAliveAt !== undefined) await store.settings.recordAlive(lastAliveAt);
  await store.tables(createQuestionStore).add(question as Redacted<Question>);
  await remember(store, project);
  store.close();
  return project;
}

/** Two versions of an agent's memory, whose runs are no longer in the history. */
async function remember(store: Store, project: LiveProject): Promise<void> {
  const versions = store.tables(prepareVersions);
  const blobs = createBlobs(project.dir);
  for (const [instanceId, texts] of [
    ["deploy-web-bbbbbbbb", { "notes/a.md": "one\n" }],
    ["deploy-web-cccccccc", { bin: "\0", "notes/a.md": "one\ntwo\n" }],
  ] as const) {
    const files = Object.entries(texts).map(async ([path, text]) => {
      const { hash, bytes } = await blobs.stage(Readable.from([Buffer.from(text)]), null);
      return { path, hash, bytes, isExecutable: false };
    });
    const about = { name: "deploy-web", at: now, instanceId, by: null, conflicts: [] };
    versions.add({ ...about, files: await Promise.all(files) });
  }
}

beforeEach(() => {
  vi.stubEnv("TZ", "UTC");
  vi.useFakeTimers({ toFake: ["Date"], now });
  return () => void vi.useRealTimers().unstubAllEnvs();
});

/** Times of the minutes after the day's end, and the token of a login link. */
const laterTimes = /\b(2026-03-10 )?12:0\d:\d\d|\bin \d+ s\b|(?<=login\/)[\w-]+/g;

/** The commands of a fixture, each with its exit code unless it is 0, and what it prints without a terminal: standard error behind `! `. */
async function printed(file: string, project: LiveProject): Promise<string> {
  const own = { PATH: process.env.PATH, HOME: project.home, AL_HOME: project.home };
  let all = "";
  for (const line of commandsOf(file, /^\$ al (.*)$/gm)) {
    const words = wordsOf(line).map((word) => word.replace("<folder>", dirname(project.dir)));
    const at = words.includes("-p") ? [] : ["-p", project.dir];
    const { code, stdout, stderr } = await runHere([...words, ...at], own);
    const end = code === 0 ? "" : `exit code ${code}\n`;
    const marked = stderr.replaceAll(/^(?=.)/gm, "! ");
    all += `$ al ${line}\n${end}${settled(marked + stdout, project).replaceAll(laterTimes, "<later>")}\n`;
  }
  return all;
}

/** The files of a project and its user's, with their contents. */
const filesOf = ({ dir }: LiveProject) =>
  readdirSync(dirname(dir), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), "base64"),
    ]);

test("without a scheduler, commands that read or are refused print the words of the fixture and change no file", async () => {
  const project = await wordsProject(now - 120_000);
  const before = filesOf(project);
  await expect(await printed("words-stored.txt", project)).toMatchFileSnapshot("words-stored.txt");
  expect(filesOf(project)).toEqual(before);
});

test("with a scheduler, commands print the words of the fixture", async () => {
  const project = await wordsProject();
  await project.start({ env });
  await expect(await printed("words-live.txt", project)).toMatchFileSnapshot("words-live.txt");
});
