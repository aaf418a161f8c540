import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fakeProvider } from "../harness/fake-provider.ts";
import type { FakeProvider, SeenRequest } from "../harness/fake-provider.ts";
import { claudeStream } from "../harness/llm-cli/streams.ts";
import { containersOfProject, removeAll } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { tempUser, whyNoOsUsers } from "../helpers/os-users.ts";
import { runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const { engine, missing } = await testEngine();
const noUsers = whyNoOsUsers();

const backwards = (word: string) => Array.from(word).reverse().join("");
/** The key of the model, a header of its config, and a credential of the agent, which proves that looking finds. */
const words = {
  key: "canary-model-key-41d0",
  header: "canary-header-9ab2",
  own: "canary-own-77f3",
};
const look = `node scripts/look.mjs ${Object.values(words).map(backwards).join(" ")}`;

const looksFirst = {
  index: 0,
  id: "call_1",
  function: { name: "bash", arguments: JSON.stringify({ command: look }) },
};

/** A provider whose model calls one tool, then is done. It repeats what it was sent, as some do in their errors. */
function answer(
  { body, headers }: SeenRequest,
  response: Parameters<Parameters<typeof fakeProvider>[0]>[1],
): void {
  const isFirst = !(body.messages ?? []).some(({ role }) => role === "tool");
  const content = `You sent ${JSON.stringify(headers)}.`;
  const delta = isFirst ? { role: "assistant", content, tool_calls: [looksFirst] } : { content };
  const choices = [{ index: 0, delta, finish_reason: isFirst ? "tool_calls" : "stop" }];
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(
    [
      { id: "x", choices },
      { id: "x", choices: [], usage },
    ]
      .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
      .concat("data: [DONE]\n\n")
      .join(""),
  );
}

/** A command line that asks its model once, looks around and ends as claude does. */
const standIn = `#!${process.execPath}
const { execSync } = require("node:child_process");
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key } = process.env;
const body = JSON.stringify({ model: "m-1", max_tokens: 9, messages: [{ role: "user", content: "hi" }] });
const headers = { "x-api-key": key, "content-type": "application/json", "anthropic-version": "2023-06-01" };
fetch(url + "/v1/messages", { method: "POST", headers, body }).then(async (answer) => {
  await answer.text();
  const looked = execSync("PATH=" + process.execPath.replace(/\\/node$/, "") + ":$PATH ${look}").toString();
  const stream = ${JSON.stringify(claudeStream)};
  stream[1].message.content[0].text = looked;
  for (const line of stream) console.log(JSON.stringify(line));
});
`;

describe("the key of a model", () => {
  let folder: string;
  let project: TestProject;
  let provider: FakeProvider;
  let scheduler: TestScheduler | null = null;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "al-keys-"));
    await chmod(folder, 0o755);
    project = {
      dir: join(folder, "project"),
      home: join(folder, "home"),
      remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
    };
    provider = await fakeProvider(answer);
  });
  afterEach(async () => {
    await scheduler?.stop();
    scheduler = null;
    if (missing === null) await removeAll(engine, project.dir);
    await provider.close();
    await project.remove();
  });

  async function put(path: string, text: string, mode = 0o644): Promise<void> {
    const isSecret = path.startsWith("home/");
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: isSecret ? 0o700 : 0o755 });
    await writeFile(join(folder, path), text, { mode });
  }

  /** Runs an agent to its end; gives what it found where, and what the engine shows of it. */
  async function run(runtime: string, harness = "", api = "") {
    await put(
      "project/config.toml",
      `[models.m]
provider = "custom"
model = "m-1"
baseUrl = "${provider.baseUrl}"
headers = { "x-canary" = "${words.header}" }
${api}
[local]
network = "none"
base = "${testBase}"
`,
    );
    await put(
      "project/agents/looker/config.toml",
      `models = ["m"]\ncredentials = ["my_own"]\nschedule = "0 0 29 2 *"\n${harness}\n[runtime]\n${runtime}\n`,
    );
    await put(
      "project/agents/looker/SKILL.md",
      "---\nname: looker\ndescription: Looks.\n---\nLook.\n",
    );
    await mkdir(join(project.dir, "agents/looker/scripts"), { recursive: true });
    await copyFile(
      join(import.meta.dirname, "look.mjs"),
      join(project.dir, "agents/looker/scripts/look.mjs"),
    );
    await put("home/credentials/custom_key/default/key", words.key, 0o600);
    await put("home/credentials/my_own/default/word", words.own, 0o600);
    scheduler = await startTestScheduler(project, { webUi: false });
    const ended = await runAl(project, ["run", "looker"]);
    const [, json = "{}"] = /LOOKED (\{.*\})/.exec(ended.stdout.replaceAll('\\"', '"')) ?? [];
    return {
      ended,
      looked: JSON.parse(json) as { found: Record<string, string[]>; programs: string[] },
    };
  }

  function expectHidden({ ended, looked }: Awaited<ReturnType<typeof run>>, program: string): void {
    expect(ended).toMatchObject({ code: 0 });
    expect(looked.found).toMatchObject({
      [backwards(words.key)]: [],
      [backwards(words.header)]: [],
    });
    expect(looked.found[backwards(words.own)]?.length).toBeGreaterThan(1);
    expect(looked.programs.join("\n")).toContain(program);
    const [first] = provider.requests;
    expect(JSON.stringify(first?.headers)).toContain(words.key);
    expect(first?.headers["x-canary"]).toBe(words.header);
  }

  const llmCli = async (): Promise<readonly [string, string]> => {
    await put("bin/claude", standIn, 0o755);
    const command = join(folder, "bin/claude");
    return [`[harness]\ntype = "llm-cli"\ncommand = "${command}"`, `api = "anthropic-messages"`];
  };

  test("is nowhere in a run of the scheduler's own user", { timeout: 60_000 }, async () => {
    expectHidden(await run('type = "host-user"\nrun_as = "$USER"'), "_run-agent");
  });

  test("is nowhere in a command line's session", { timeout: 60_000 }, async () => {
    const [harness, api] = await llmCli();
    expectHidden(await run('type = "host-user"\nrun_as = "$USER"', harness, api), "claude");
  });

  test.skipIf(noUsers !== null)(
    "is nowhere in a run of another OS user",
    { timeout: 60_000 },
    async () => {
      const user = await tempUser();
      try {
        expectHidden(await run(`type = "host-user"\nrun_as = "${user.name}"`), "_run-agent");
      } finally {
        await user.remove();
      }
    },
  );

  test.skipIf(missing !== null)(
    "is nowhere in a container",
    { timeout: engineSetupMs },
    async () => {
      await defaultTestImage(engine);
      let inspected = "";
      const watched = setInterval(() => {
        void containersOfProject(engine, project.dir)
          .then((ids) => Promise.all(ids.map((id) => engine.calls().getContainer(id).inspect())))
          .then((all) => (inspected += JSON.stringify(all)))
          .catch(() => undefined);
      }, 200);
      const done = await run('type = "container"').finally(() => clearInterval(watched));
      expectHidden(done, "_run-agent");
      expect(inspected).toContain("AL_INSTANCE=looker-");
      expect(inspected).not.toContain("canary");
    },
  );
});
