import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fakeProvider, saying } from "../fake-provider.ts";
import { aJob, aModel, aScripted } from "../jobs.ts";
import { endMessageOf, logsOf, runOf, startRun } from "../run-entry.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const workDir = perTest(tempDir);

const bash = (command: string) => ({ name: "bash", arguments: { command } });

test("a session of pi continues after an invalid tool call, even in the last turn of a scripted model", async () => {
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

describe("a run in the pi harness", () => {
  test("logs texts, tool calls, results and usage", async () => {
    const command = "echo hello > greeting; cat greeting";
    const turns = [
      { text: "Let me look.", tools: [bash(command)] },
      { text: "There is a greeting.", tools: [bash("exit 3")] },
      { text: "All done." },
    ];
    const run = await runOf(aJob(workDir(), { models: [aScripted(turns)] }));
    expect(run.exitCode).toBe(0);
    expect(logsOf(run, "said").map(({ msg }) => msg)).toEqual(turns.map(({ text }) => text));
    expect(logsOf(run, "tool")[0]).toMatchObject({
      msg: `bash: ${command}`,
      fields: { tool: "bash", input: { command } },
    });
    expect(logsOf(run, "tool-result").map(({ fields }) => fields)).toMatchObject([
      { tool: "bash", output: "hello\n", isError: false, durationMs: expect.any(Number) as number },
      { tool: "bash", isError: true },
    ]);
    const tokens = logsOf(run, "usage").map(({ fields }) => Number(fields?.tokens));
    expect(tokens.map((count) => count > 0)).toEqual([true, true, true]);
    const total = tokens.reduce((sum, count) => sum + count, 0);
    const usage = { model: "scripted", tokens: total, turns: 3, costUsd: 0 };
    expect(endMessageOf(run)).toEqual({ type: "end", error: null, usage });
  });

  test("uses only SKILL.md's body as system prompt, nothing from pi's own folders", async () => {
    await mkdir(join(workDir(), ".pi", "agent"), { recursive: true });
    await writeFile(join(workDir(), "AGENTS.md"), "PLANTED context");
    await writeFile(join(workDir(), ".pi", "SYSTEM.md"), "PLANTED system");
    await writeFile(join(workDir(), ".pi", "agent", "settings.json"), `{"defaultModel":"PLANTED"}`);
    const provider = await fakeProvider(saying("ok"));
    onTestFinished(() => provider.close());
    const files = async () => (await readdir(workDir(), { recursive: true })).toSorted();
    const before = await files();
    const models = [aModel("local", provider.baseUrl)];
    const run = await runOf(aJob(workDir(), { models, instructions: "You water the plants." }));
    expect(run.exitCode).toBe(0);
    const sent = JSON.stringify(provider.requests[0]?.body);
    for (const part of ["local-1", "You water the plants.", "<agent-config>", "al_status"]) {
      expect(sent).toContain(part);
    }
    expect(sent).not.toContain("PLANTED");
    expect(await files()).toEqual(before);
  });

  test("splits long texts and calls into log messages below 32 KiB", async () => {
    const long = `${"long text ".repeat(2000)}the end`;
    const command = `: ${"é".repeat(40_000)}; head -c 100000 /dev/zero | tr '\\0' '\\001'`;
    const models = [aScripted([{ tools: [bash(command)] }, { text: long }])];
    // A process of its own: pi keeps long output in its folder for temporary files.
    const run = await startRun(aJob(workDir(), { models })).ended;
    const texts = logsOf(run, "said").map(({ msg }) => msg);
    expect(texts.join("")).toBe(long);
    const bytes = run.messages.map((message) => Buffer.byteLength(JSON.stringify(message)));
    expect(Math.max(...bytes)).toBeLessThan(32 * 1024);
    expect(run.exitCode).toBe(0);
  });

  const waiting = aScripted([{ text: "Waiting.", tools: [bash("touch started; sleep 600")] }, {}]);

  test.each<readonly [string, (run: ReturnType<typeof startRun>) => void]>([
    ["its standard input ends, because the scheduler is gone", ({ child }) => child.stdin.end()],
    [
      "its output has no reader",
      ({ child }) => {
        child.stdout.destroy();
        child.stdin.end();
      },
    ],
  ])("ends and runs its post hooks when %s", async (_when, end) => {
    const hooks = { pre: [], post: ["touch post-ran"] };
    const run = startRun(aJob(workDir(), { models: [waiting], hooks }));
    await expect.poll(() => readdir(workDir())).toContain("started");
    end(run);
    const ended = await run.ended;
    expect(await readdir(workDir())).toContain("post-ran");
    expect(ended.exitCode).toBe(143);
    const last = ended.messages.at(-1);
    if (last?.type === "end") expect(last.error).toBe("it was stopped before it finished");
  });
});
