import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeProvider, saying } from "../fake-provider.ts";
import { aJob, aModel, aScripted } from "../jobs.ts";
import { endMessageOf, logsOf, runOf, startRun } from "../run-entry.ts";

describe("a run in the pi harness", () => {
  let workDir: string;
  beforeEach(async () => {
    workDir = await mkdtemp(join(tmpdir(), "al-pi-"));
  });
  afterEach(() => rm(workDir, { recursive: true, force: true }));

  const bash = (command: string) => ({ name: "bash", arguments: { command } });

  it("tells what the agent said, which tools it called, what came back and what it used", async () => {
    const script = [
      { text: "Let me look.", tools: [bash("echo hello > greeting; cat greeting")] },
      { text: "There is a greeting.", tools: [bash("exit 3")] },
      { text: "All done." },
    ];
    const run = await runOf(aJob(workDir, { models: [aScripted(script)] }));
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
    const [good, bad] = logsOf(run, "tool-result");
    expect(good?.fields).toMatchObject({ tool: "bash", output: "hello\n", isError: false });
    expect(good?.fields?.durationMs).toBeGreaterThanOrEqual(0);
    expect(bad?.fields).toMatchObject({ isError: true });
    const tokens = logsOf(run, "usage").map(({ fields }) => fields?.tokens as number);
    expect(tokens).toHaveLength(3);
    for (const count of tokens) expect(count).toBeGreaterThan(0);
    expect(endMessageOf(run)).toEqual({
      type: "end",
      error: null,
      usage: {
        model: "scripted",
        tokens: tokens.reduce((sum, count) => sum + count, 0),
        turns: 3,
        costUsd: 0,
      },
    });
    expect(await readFile(join(workDir, "greeting"), "utf8")).toBe("hello\n");
  });

  it("gives the model SKILL.md's body as system prompt, and nothing from pi's folders", async () => {
    await mkdir(join(workDir, ".pi", "agent"), { recursive: true });
    await writeFile(join(workDir, "AGENTS.md"), "PLANTED context");
    await writeFile(join(workDir, ".pi", "SYSTEM.md"), "PLANTED system");
    await writeFile(join(workDir, ".pi", "agent", "settings.json"), `{"defaultModel":"PLANTED"}`);
    const provider = await fakeProvider(saying("ok"));
    const before = (await readdir(workDir, { recursive: true })).toSorted();
    const models = [aModel("local", provider.baseUrl)];
    const run = await runOf(aJob(workDir, { models, instructions: "You water the plants." }));
    await provider.close();
    expect(run.exitCode).toBe(0);
    const [request] = provider.requests;
    expect(request?.authorization).toBe("Bearer key-of-local");
    expect(request?.body.model).toBe("local-1");
    const sent = JSON.stringify(request?.body);
    expect(sent).toContain("You water the plants.");
    expect(sent).toContain("<agent-config>");
    expect(sent).toContain("al_status");
    expect(sent).not.toContain("PLANTED");
    expect((await readdir(workDir, { recursive: true })).toSorted()).toEqual(before);
  });

  it("takes a key and an answer with shell characters literally", async () => {
    const provider = await fakeProvider(saying("ok"));
    const key = "!echo $HOME";
    const run = await runOf(
      aJob(workDir, { models: [aModel("local", provider.baseUrl, { key })] }),
    );
    await provider.close();
    expect(run.exitCode).toBe(0);
    expect(provider.requests[0]?.authorization).toBe(`Bearer ${key}`);
  });

  it("asks for the thinking level of the model", async () => {
    const provider = await fakeProvider(saying("ok"));
    const models = [aModel("local", provider.baseUrl, { thinkingLevel: "high" })];
    await runOf(aJob(workDir, { models }));
    await provider.close();
    expect(provider.requests[0]?.body).toMatchObject({ reasoning_effort: "high" });
  });

  it("sends a known provider's model to another base URL, also one that is newer than pi's list", async () => {
    const provider = await fakeProvider(saying("ok"));
    const groq = { provider: "groq", model: "tomorrows-model" } as const;
    const models = [aModel("fast", provider.baseUrl, groq)];
    const run = await runOf(aJob(workDir, { models }));
    await provider.close();
    expect(run.exitCode).toBe(0);
    expect(provider.requests[0]).toMatchObject({
      authorization: "Bearer key-of-fast",
      body: { model: "tomorrows-model" },
    });
    expect(endMessageOf(run).usage.costUsd).toBeNull();
  });

  it("gives commands the credentials' variables and not the environment of its own process", async () => {
    const credentials = [
      { type: "github_token", instance: "default", fields: {}, env: { GITHUB_TOKEN: "t0ken" } },
    ];
    const models = [aScripted([{ tools: [bash("env | sort")] }, { text: "Done." }])];
    const run = await runOf(aJob(workDir, { models, credentials }), { LEAKED: "yes" });
    const output = String(logsOf(run, "tool-result")[0]?.fields?.output);
    expect(output).toContain("GITHUB_TOKEN=t0ken");
    expect(output).toContain("AL_INSTANCE=dev-abcdefgh");
    expect(output).not.toMatch(/LEAKED|PI_|NODE_/);
  });

  it("shows a status that the agent reports, in one line", async () => {
    const tools = [{ name: "al_status", arguments: { text: "reading\n  mail" } }];
    const run = await runOf(aJob(workDir, { models: [aScripted([{ tools }, { text: "Done." }])] }));
    expect(run.messages).toContainEqual({ type: "status", text: "reading mail" });
  });

  it("goes on when a tool call is wrong", async () => {
    const turns = [
      { tools: [{ name: "al_status", arguments: {} }] },
      { tools: [{ name: "no_such_tool", arguments: {} }] },
      { text: "Anyway." },
    ];
    const run = await runOf(aJob(workDir, { models: [aScripted(turns)] }));
    expect(logsOf(run, "tool-result").map(({ fields }) => fields?.isError)).toEqual([true, true]);
    expect(run.exitCode).toBe(0);
  });

  it("answers for a script whose last turn still calls a tool", async () => {
    const run = await runOf(aJob(workDir, { models: [aScripted([{ tools: [bash("true")] }])] }));
    expect(logsOf(run, "said").map(({ msg }) => msg)).toEqual(["(end of script)"]);
    expect(run.exitCode).toBe(0);
  });

  it("keeps every message under the length that the scheduler reads", async () => {
    const long = `${"long text ".repeat(2000)}the end`;
    const command = `: ${"é".repeat(40_000)}; head -c 100000 /dev/zero | tr '\\0' '\\001'`;
    const run = await runOf(
      aJob(workDir, { models: [aScripted([{ tools: [bash(command)] }, { text: long }])] }),
    );
    expect(
      logsOf(run, "said")
        .map(({ msg }) => msg)
        .join(""),
    ).toBe(long);
    for (const message of run.messages) {
      expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(32 * 1024);
    }
    expect(run.exitCode).toBe(0);
  });

  const waiting = aScripted([{ text: "Waiting.", tools: [bash("touch started; sleep 60")] }, {}]);

  async function stopped(end: (run: ReturnType<typeof startRun>) => void) {
    const marker = join(workDir, "post-ran");
    const hooks = { pre: [], post: [`touch ${marker}`] };
    const run = startRun(aJob(workDir, { models: [waiting], hooks }));
    while (!(await readdir(workDir)).includes("started")) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const before = performance.now();
    end(run);
    const ended = await run.ended;
    expect(performance.now() - before).toBeLessThan(3000);
    expect(await readdir(workDir)).toContain("post-ran");
    return ended;
  }

  it("ends soon after TERM, says so, and runs its post hooks", async () => {
    const run = await stopped(({ child }) => child.kill("SIGTERM"));
    expect(run.exitCode).toBe(143);
    expect(endMessageOf(run).error).toBe("it was stopped before it was done");
  });

  it("ends when its standard input ends, as the scheduler is gone then", async () => {
    expect((await stopped(({ child }) => child.stdin.end())).exitCode).toBe(143);
  });

  it("ends when nobody reads its messages any more", async () => {
    const run = await stopped(({ child }) => {
      child.stdout.destroy();
      child.stdin.end();
    });
    expect(run.exitCode).toBe(143);
  });
});
