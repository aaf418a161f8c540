import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { aModel, aScripted, type JobOptions } from "../jobs.ts";
import { endMessageOf, logsOf, runOf, type EndedRun } from "../run-entry.ts";
import { cliModel, play, prepared, startPlay, type Program } from "./play.ts";
import {
  claudeFailure,
  claudeStream,
  codexFailure,
  codexStream,
  geminiFailure,
  geminiLimit,
  geminiStream,
} from "./streams.ts";

const secret = "sk-of-the-model";

const errorOf = (run: EndedRun) => endMessageOf(run).error;
const told = (run: EndedRun) =>
  run.messages.flatMap((message) =>
    message.type === "log" && ["said", "tool", "tool-result", "usage"].includes(message.kind)
      ? [`${message.kind}: ${message.msg}`]
      : [],
  );

test("the llm-cli harness logs a session of claude, with its usage and cost", async () => {
  const { run } = await play("claude", { stream: claudeStream });
  expect(run.exitCode).toBe(0);
  expect(told(run)).toEqual([
    "said: Looking.",
    "tool: Bash: exit 3",
    "tool-result: Bash failed",
    "said: Done.",
    "usage: 255 tokens",
  ]);
  expect(logsOf(run, "tool-result")[0]?.fields).toMatchObject({
    tool: "Bash",
    output: "Exit code 3",
    isError: true,
  });
  const usage = { model: "main", tokens: 255, costUsd: 0.0012, turns: 2 };
  expect(endMessageOf(run)).toEqual({ type: "end", error: null, usage });
});

test("the llm-cli harness sums up the turns of a claude that got a message during its last turn", async () => {
  const { run } = await play("claude", { stream: [...claudeStream, claudeStream.at(-1)] });
  const usage = { model: "main", tokens: 510, costUsd: 0.0012, turns: 4 };
  expect(endMessageOf(run)).toEqual({ type: "end", error: null, usage });
});

test("the llm-cli harness logs a session of codex, with its tokens", async () => {
  const { run } = await play("codex", { stream: codexStream });
  expect(run.exitCode).toBe(0);
  expect(told(run)).toEqual([
    "said: Looking.",
    "tool: shell: /bin/bash -lc 'exit 3'",
    "tool-result: shell failed",
    "tool-result: edit done",
    "said: Done.",
    "usage: 240 tokens",
  ]);
  expect(logsOf(run, "tool-result")[1]?.fields?.output).toBe("add /w/notes.md");
  expect(logsOf(run, "run").map(({ msg }) => msg)).toContain("Metadata not found.");
  const usage = { model: "main", tokens: 240, costUsd: null, turns: null };
  expect(endMessageOf(run)).toEqual({ type: "end", error: null, usage });
});

test("the llm-cli harness logs a session of gemini, its pieces put together", async () => {
  const noise = "YOLO mode is enabled. All tool calls will be automatically approved.";
  const { run } = await play("gemini", { stream: [...geminiStream, "not JSON"], stderr: noise });
  expect(run.exitCode).toBe(0);
  expect(told(run)).toEqual([
    "said: Looking.",
    "tool: run_shell_command: exit 3",
    "tool-result: run_shell_command failed",
    "said: Done.",
    "usage: 240 tokens",
  ]);
  expect(
    logsOf(run, "process")
      .map(({ msg }) => msg)
      .toSorted(),
  ).toEqual([noise, "not JSON"]);
});

test.each([
  ["claude", [claudeFailure(401, "Failed to authenticate.")], "401 Failed to authenticate."],
  ["codex", codexFailure("unexpected status 401 Unauthorized: no"), "401 unexpected status"],
  ["gemini", [geminiFailure(401, "API key not valid")], "401 API key not valid"],
] as const)(
  "the llm-cli harness fails when %s reports a failure",
  async (program, stream, message) => {
    const { run } = await play(program, { stream, exitCode: 0 });
    expect(run.exitCode).toBe(1);
    expect(errorOf(run)).toContain(`model "main": ${message}`);
    expect(run.messages.filter(({ type }) => type === "cooldown")).toEqual([]);
  },
);

test.each([
  ["claude", [claudeFailure(429, "Request rejected")]],
  ["codex", codexFailure("exceeded retry limit, last status: 429 Too Many Requests")],
  ["gemini", [geminiFailure(429, "quota")]],
  ["gemini", [geminiLimit]],
] as const)(
  "the llm-cli harness reports a model that is rate-limited in %s",
  async (program, stream) => {
    const { run } = await play(program, { stream, exitCode: 1 }, { maxRetries: 0 });
    expect(run.messages.find(({ type }) => type === "cooldown")).toMatchObject({ model: "main" });
  },
);

test("the llm-cli harness fails with the last lines of a CLI that gave no result", async () => {
  const stderr = "first\ncannot be used with root/sudo privileges\n";
  const { run } = await play("claude", { stderr, exitCode: 1 });
  expect(errorOf(run)).toBe(
    "claude ended with code 1, without a result\nfirst\ncannot be used with root/sudo privileges",
  );
  const quiet = await play("codex", { stream: codexStream.slice(0, 4), exitCode: 0 });
  expect(errorOf(quiet.run)).toBe("codex ended with code 0, without a result");
});

test("the llm-cli harness fails when the exit code contradicts the result", async () => {
  const { run } = await play("claude", { stream: claudeStream, exitCode: 7 });
  expect(errorOf(run)).toBe("claude emitted a result without an error, but ended with code 7");
  expect(endMessageOf(run).usage.tokens).toBe(255);
});

test.each([
  ["claude", claudeStream],
  ["codex", codexStream],
  ["gemini", geminiStream],
] as const)(
  "the llm-cli harness passes prompt and instructions to %s outside of the arguments, and no key",
  async (program, stream) => {
    // The files are removed with the working directory, so the run itself reads them.
    const then = `cp -rp .llm-cli "$HOME/../kept"; stat -c %a .llm-cli/system-prompt.md > "$HOME/../mode"`;
    const baseUrl = "http://user:pass@127.0.0.1:1/v1";
    const { cli, file } = await play(
      program,
      { stream, then },
      { baseUrl, key: secret },
      {
        instructions: "Be the instructed one.",
        trigger: { kind: "manual", prompt: "the asked thing" },
      },
    );
    expect(await cli.input()).toContain("the asked thing");
    expect(await file("kept/system-prompt.md")).toBe("Be the instructed one.");
    expect(await file("mode")).toBe("600\n");
    const args = (await cli.args()).join(" ");
    expect(args).toContain("main-1");
    expect(args).not.toMatch(/asked|instructed|sk-of|user:pass/);
    expect(JSON.stringify(await cli.env())).not.toMatch(/sk-of|user:pass/);
  },
);

test("the llm-cli harness gives the CLI the variables of the agent's commands and no others of its own", async () => {
  const credential = { type: "t", instance: "default", fields: {} };
  const credentials = [{ ...credential, env: { T: "t0ken", ANTHROPIC_API_KEY: "other" } }];
  const oauth = { authType: "oauth_token", thinkingLevel: "high" } as const;
  const { cli } = await play("claude", { stream: claudeStream }, oauth, { credentials });
  const seen = await cli.env();
  expect(seen).toMatchObject({ T: "t0ken", AL_AGENT: "dev" });
  expect(seen.CLAUDE_CODE_OAUTH_TOKEN).toMatch(/^sk-ant-oat01-[0-9a-f]{48}$/);
  expect(seen.ANTHROPIC_BASE_URL).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/model\/main\/api\.anthropic\.com$/,
  );
  expect(seen).not.toHaveProperty("AL_TEST_LEAK");
  expect(seen).not.toHaveProperty("ANTHROPIC_API_KEY");
  expect(await cli.args()).toEqual(expect.arrayContaining(["--effort", "high"]));
});

test("the llm-cli harness uses the first model only", async () => {
  const { cli, run } = await play(
    "claude",
    { stream: [claudeFailure(529, "Overloaded")], exitCode: 1 },
    {},
    { models: [cliModel("claude"), cliModel("claude", { name: "second", model: "second-1" })] },
  );
  expect(errorOf(run)).toBe('model "main": 529 Overloaded');
  expect((await cli.args()).join(" ")).not.toContain("second");
});

test("the llm-cli harness accepts a model of another vendor only if its baseUrl names a server, with a warning", async () => {
  const models = [aModel("gpt", "", { provider: "openai", baseUrl: null, key: "sk-gpt" })];
  const refused = await play("claude", { stream: claudeStream }, {}, { models });
  expect(errorOf(refused.run)).toMatch(
    /^model "gpt" is one of openai, while claude is made for models of anthropic: .*baseUrl/,
  );
  const proxy = [aModel("proxy", "http://127.0.0.1:1", { provider: "custom", key: "sk-proxy" })];
  const asked = await play("claude", { stream: claudeStream }, {}, { models: proxy });
  expect(asked.run.exitCode).toBe(0);
  expect(logsOf(asked.run, "run").map(({ msg }) => msg)).toContain(
    'model "proxy" is one of custom, while claude is made for models of anthropic',
  );
});

test.each<readonly [string, Program, JobOptions, string]>([
  [
    "is missing",
    "codex",
    { harness: { type: "llm-cli", command: "codex" } },
    "codex is not installed where this agent runs; install it there with: npm install -g @openai/codex",
  ],
  [
    "is another one",
    "claude",
    { harness: { type: "llm-cli", command: "my-llm" } },
    "it knows claude, codex, gemini",
  ],
  [
    "can't be executed",
    "claude",
    { harness: { type: "llm-cli", command: "/etc/claude" } },
    "/etc/claude",
  ],
  [
    "has a scripted model",
    "claude",
    { models: [aScripted([{ text: "x" }])] },
    "only the pi harness",
  ],
])("llm-cli fails with a fix when the CLI %s", async (_how, program, job, expected) => {
  const { cli, job: made } = await prepared(program, {}, {}, job);
  const isMissing = expected.includes("install");
  const run = await runOf(made, { PATH: isMissing ? "/nonexistent" : cli.path });
  expect(run.exitCode).toBe(1);
  expect(errorOf(run)).toContain(expected);
});

test("the llm-cli harness ends the CLI with all its processes when the run is stopped", async () => {
  const then = `setsid sleep 60 & echo $! > "$HOME/escaped"; touch "$HOME/ready"; sleep 60`;
  const behaviour = { stream: claudeStream.slice(0, 2), then };
  const { child, ended, workDir } = await startPlay("claude", behaviour);
  await expect.poll(() => readdir(workDir), { timeout: 20_000 }).toContain("ready");
  const before = performance.now();
  child.kill("SIGTERM");
  const run = await ended;
  expect(performance.now() - before).toBeLessThan(20_000);
  expect(run.exitCode).toBe(143);
  expect(errorOf(run)).toBe("it was stopped before it was done");
  const escaped = (await readFile(join(workDir, "escaped"), "utf8")).trim();
  // A busy machine takes its time to carry a kill out.
  const state = () => readFile(`/proc/${escaped}/stat`, "utf8").catch(() => "gone");
  await expect.poll(state).toMatch(/gone|\) Z /);
});

test("the llm-cli harness survives messages that are too long, of another shape, or not JSON at all", async () => {
  const odd = [
    '{"type":"assistant"}',
    '{"type":"assistant","message":{"content":"text"}}',
    '{"type":"assistant","message":{"content":[null,7,{"type":"tool_use"}]}}',
    '{"type":"something.new"}',
    "{not json",
  ];
  const then = `printf '{"type":"assistant","message":"'; head -c 9000000 /dev/zero | tr '\\0' x; echo '"}'`;
  const { run } = await play("claude", { stream: [...odd, ...claudeStream], then });
  expect(run.exitCode).toBe(0);
  expect(logsOf(run, "process").map(({ msg }) => msg)).toEqual([
    "{not json",
    "a message too long to be read",
  ]);
});
