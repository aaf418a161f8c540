import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fakeProvider, saying } from "../fake-provider.ts";
import { aJob, aModel, aScripted } from "../jobs.ts";
import type { HostedModel } from "../model-host.ts";
import { endMessageOf, logsOf, runOf, startRun } from "../run-entry.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const workDir = perTest(tempDir);

const bash = (command: string) => ({ name: "bash", arguments: { command } });

/** The first request of a session whose model answers at once, and the session's end. */
async function asked(model: Partial<HostedModel>) {
  const provider = await fakeProvider(saying("ok"));
  const models = [aModel("local", provider.baseUrl, model)];
  const { error, usage } = await runSession({ workDir: workDir(), models });
  await provider.close();
  expect(error).toBeNull();
  return { ...provider.requests[0], usage };
}

test("a session of pi takes a key with shell characters literally", async () => {
  const key = "!echo $HOME";
  expect(await asked({ key })).toMatchObject({ authorization: `Bearer ${key}` });
});

test("a session of pi asks for the thinking level of the model", async () =>
  expect(await asked({ thinkingLevel: "high" })).toMatchObject({
    body: { reasoning_effort: "high" },
  }));

test("a session of pi sends a known provider's model to another base URL, even one newer than pi's list", async () =>
  expect(await asked({ provider: "groq", model: "tomorrows-model" })).toMatchObject({
    body: { model: "tomorrows-model" },
    usage: { costUsd: null },
  }));

test("a session of pi continues after a wrong tool call, even one in the last turn of a script", async () => {
  const turns = [
    { tools: [{ name: "al_status", arguments: {} }] },
    { tools: [{ name: "no_such_tool", arguments: {} }] },
    { tools: [bash("true")] },
  ];
  const requests = { perform: () => Promise.reject(new Error("a status has a text")) };
  const ended = await runSession({ workDir: workDir(), models: [aScripted(turns)], requests });
  expect(logsOf(ended, "tool-result").map(({ fields }) => fields?.isError)).toEqual([
    true,
    true,
    false,
  ]);
  expect(logsOf(ended, "said").map(({ msg }) => msg)).toEqual(["(end of script)"]);
  expect(ended.error).toBeNull();
});

test("a run in the pi harness logs texts, tool calls, results and usage, and shows a status in one line", async () => {
  const tools = [bash("echo hello > greeting; cat greeting")];
  const status = { name: "al_status", arguments: { text: "reading\n  mail" } };
  const script = [
    { text: "Let me look.", tools },
    { text: "There is a greeting.", tools: [bash("exit 3"), status] },
    { text: "All done." },
  ];
  const run = await runOf(aJob(workDir(), { models: [aScripted(script)] }));
  expect(run.exitCode).toBe(0);
  expect(logsOf(run, "said").map(({ msg }) => msg)).toEqual([
    "Let me look.",
    "There is a greeting.",
    "All done.",
  ]);
  expect(logsOf(run, "tool")[0]).toMatchObject({
    msg: "bash: echo hello > greeting; cat greeting",
    fields: { tool: "bash", input: { command: "echo hello > greeting; cat greeting" } },
  });
  const results = logsOf(run, "tool-result");
  const [good, bad] = results.filter(({ fields }) => fields?.tool === "bash");
  expect(good?.fields).toMatchObject({ tool: "bash", output: "hello\n", isError: false });
  expect(good?.fields?.durationMs).toBeGreaterThanOrEqual(0);
  expect(bad?.fields).toMatchObject({ isError: true });
  const tokens = logsOf(run, "usage").map(({ fields }) => fields?.tokens as number);
  expect(tokens).toHaveLength(3);
  for (const count of tokens) expect(count).toBeGreaterThan(0);
  const total = tokens.reduce((sum, count) => sum + count, 0);
  const usage = { model: "scripted", tokens: total, turns: 3, costUsd: 0 };
  expect(endMessageOf(run)).toEqual({ type: "end", error: null, usage });
  expect(run.messages).toContainEqual({ type: "status", text: "reading mail" });
  expect(await readFile(join(workDir(), "greeting"), "utf8")).toBe("hello\n");
});

test("a run in the pi harness gives the model SKILL.md's body as system prompt, and nothing from pi's folders", async () => {
  await mkdir(join(workDir(), ".pi", "agent"), { recursive: true });
  await writeFile(join(workDir(), "AGENTS.md"), "PLANTED context");
  await writeFile(join(workDir(), ".pi", "SYSTEM.md"), "PLANTED system");
  await writeFile(join(workDir(), ".pi", "agent", "settings.json"), `{"defaultModel":"PLANTED"}`);
  const provider = await fakeProvider(saying("ok"));
  const before = (await readdir(workDir(), { recursive: true })).toSorted();
  const models = [aModel("local", provider.baseUrl)];
  const run = await runOf(aJob(workDir(), { models, instructions: "You water the plants." }));
  await provider.close();
  expect(run.exitCode).toBe(0);
  const [request] = provider.requests;
  expect(request?.authorization).toBe("Bearer key-of-local");
  const sent = JSON.stringify(request?.body);
  for (const part of ["local-1", "You water the plants.", "<agent-config>", "al_status"]) {
    expect(sent).toContain(part);
  }
  expect(sent).not.toContain("PLANTED");
  expect((await readdir(workDir(), { recursive: true })).toSorted()).toEqual(before);
});

test("a run in the pi harness gives commands the credentials' variables, not its own, and no message is 32 KiB long", async () => {
  const credentials = [
    { type: "github_token", instance: "default", fields: {}, env: { GITHUB_TOKEN: "t0ken" } },
  ];
  const long = `${"long text ".repeat(2000)}the end`;
  const command = `: ${"é".repeat(40_000)}; head -c 100000 /dev/zero | tr '\\0' '\\001'`;
  const turns = [{ tools: [bash("env | sort")] }, { tools: [bash(command)] }, { text: long }];
  const job = aJob(workDir(), { models: [aScripted(turns)], credentials });
  const run = await runOf(job, { LEAKED: "yes" });
  const output = String(logsOf(run, "tool-result")[0]?.fields?.output);
  expect(output).toContain("GITHUB_TOKEN=t0ken");
  expect(output).toContain("AL_INSTANCE=dev-abcdefgh");
  expect(output).not.toMatch(/LEAKED|PI_|NODE_/);
  const texts = logsOf(run, "said").map(({ msg }) => msg);
  expect(texts.join("")).toBe(long);
  for (const message of run.messages) {
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(32 * 1024);
  }
  expect(run.exitCode).toBe(0);
});

const waiting = aScripted([{ text: "Waiting.", tools: [bash("touch started; sleep 60")] }, {}]);

test.each<readonly [string, (run: ReturnType<typeof startRun>) => void]>([
  ["SIGTERM arrives", ({ child }) => child.kill("SIGTERM")],
  ["its standard input ends, because the scheduler is gone", ({ child }) => child.stdin.end()],
  [
    "its messages have no reader",
    ({ child }) => {
      child.stdout.destroy();
      child.stdin.end();
    },
  ],
])("a run in the pi harness ends soon and runs its post hooks when %s", async (_when, end) => {
  const marker = join(workDir(), "post-ran");
  const hooks = { pre: [], post: [`touch ${marker}`] };
  const run = startRun(aJob(workDir(), { models: [waiting], hooks }));
  await expect.poll(() => readdir(workDir()), { timeout: 20_000 }).toContain("started");
  const before = performance.now();
  end(run);
  const ended = await run.ended;
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(await readdir(workDir())).toContain("post-ran");
  expect(ended.exitCode).toBe(143);
  const last = ended.messages.at(-1);
  if (last?.type === "end") expect(last.error).toBe("it was stopped before it was done");
});
