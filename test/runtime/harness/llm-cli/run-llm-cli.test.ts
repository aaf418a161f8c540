import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { aModel, aScripted, type JobOptions } from "../jobs.ts";
import { endMessageOf, logsOf, runOf, type EndedRun } from "../run-entry.ts";
import { play, prepared, startPlay } from "./play.ts";
import {
  claudeFailure,
  claudeStream,
  codexFailure,
  codexStream,
  geminiFailure,
  geminiStream,
} from "./streams.ts";

const errorOf = (run: EndedRun) => endMessageOf(run).error;
const linesOf = (run: EndedRun, kind: Parameters<typeof logsOf>[1]) =>
  logsOf(run, kind).map(({ msg }) => msg);

describe("the llm-cli harness", () => {
  test.each([
    ["claude", claudeStream, "Bash: exit 3", "Exit code 3", 255, 0.0012, 2],
    ["codex", codexStream, "shell: /bin/bash -lc 'exit 3'", "hi\n", 240, null, null],
    ["gemini", geminiStream, "run_shell_command: exit 3", "hi", 240, null, null],
  ] as const)(
    "logs texts, tool calls and usage of %s",
    async (program, stream, call, output, tokens, costUsd, turns) => {
      const { run } = await play(program, { stream });
      expect(run.exitCode).toBe(0);
      expect(linesOf(run, "said")).toEqual(["Looking.", "Done."]);
      expect(linesOf(run, "tool")).toEqual([call]);
      const [tool] = call.split(":");
      const [result] = logsOf(run, "tool-result");
      expect(result).toMatchObject({
        msg: `${tool} failed`,
        fields: { tool, output, isError: true },
      });
      expect(linesOf(run, "usage")).toEqual([`${tokens} tokens`]);
      const usage = { model: "main", tokens, costUsd, turns };
      expect(endMessageOf(run)).toEqual({ type: "end", error: null, usage });
    },
  );

  test("logs the warnings and file edits of codex", async () => {
    const { run } = await play("codex", { stream: codexStream });
    expect(linesOf(run, "run")).toContain("Metadata not found.");
    const edit = { msg: "edit done", fields: { output: "add /w/notes.md" } };
    expect(logsOf(run, "tool-result")[1]).toMatchObject(edit);
  });

  test.each([
    ["claude", [claudeFailure("Request rejected")], "Request rejected"],
    ["codex", codexFailure("last status: 429 Too Many Requests"), "last status: 429"],
    ["gemini", [geminiFailure], "[API Error: quota exceeded]"],
  ] as const)(
    "fails if %s reports a failure, and takes reason and cooldown of the gateway",
    async (program, stream, message) => {
      const failure = { kind: "retry", message: "429 slow down", cooldownMs: 60_000 } as const;
      for (const cause of [undefined, failure]) {
        const { run } = await play(program, { stream, failure: cause }, { maxRetries: 0 });
        expect(run.exitCode).toBe(1);
        expect(errorOf(run)).toContain(`model "main": ${cause?.message ?? message}`);
        const cooldowns = run.messages.filter(({ type }) => type === "cooldown");
        expect(cooldowns).toHaveLength(cause === undefined ? 0 : 1);
      }
    },
  );

  test("fails with the last output lines of a CLI that returned no result", async () => {
    const stderr = "first\ncannot be used with root/sudo privileges\n";
    const { run } = await play("claude", { stderr, exitCode: 1 });
    expect(errorOf(run)).toBe(
      "claude ended with code 1, without a result\nfirst\ncannot be used with root/sudo privileges",
    );
    const quiet = await play("codex", { stream: codexStream.slice(0, 4) });
    expect(errorOf(quiet.run)).toBe("codex ended with code 0, without a result");
  });

  test("fails when the CLI's exit code contradicts its result", async () => {
    const { run } = await play("claude", { stream: claudeStream, exitCode: 7 });
    expect(errorOf(run)).toBe("claude emitted a result without an error, but ended with code 7");
    expect(endMessageOf(run).usage.tokens).toBe(255);
  });

  test.each([
    ["claude", claudeStream],
    ["codex", codexStream],
    ["gemini", geminiStream],
  ] as const)(
    "passes prompt and instructions to %s neither as arguments nor with an API key",
    async (program, stream) => {
      // The files are removed with the working directory, so the run itself reads them.
      const then = `cp -rp .llm-cli "$HOME/../kept"; stat -c %a .llm-cli/system-prompt.md > "$HOME/../mode"`;
      const { cli, file } = await play(
        program,
        { stream, then },
        { baseUrl: "http://user:pass@127.0.0.1:1/v1", key: "sk-of-the-model" },
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

  test("gives the CLI the variables of the agent's commands and no others", async () => {
    const env = { T: "t0ken", ANTHROPIC_API_KEY: "other" };
    const credentials = [{ type: "t", instance: "default", fields: {}, env }];
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

  test("accepts a model of another vendor only with a baseUrl, and warns", async () => {
    const playWith = (baseUrl: string | null) => {
      const models = [aModel("gpt", "", { provider: "openai", baseUrl })];
      return play("claude", { stream: claudeStream }, {}, { models });
    };
    const other = 'model "gpt" is a model of openai, but claude needs a model of anthropic';
    const rejected = errorOf((await playWith(null)).run);
    expect(rejected).toMatch(new RegExp(`^${other}: .*baseUrl`));
    const { run } = await playWith("http://127.0.0.1:1");
    expect(run.exitCode).toBe(0);
    expect(linesOf(run, "run")).toContain(other);
  });

  test.each<readonly [string, JobOptions, string]>([
    [
      "is missing",
      {},
      "codex is not installed where this agent runs; install it there with: npm install -g @openai/codex",
    ],
    [
      "is a program of the user's",
      { harness: { type: "llm-cli", command: "my-llm" } },
      "my-llm is not installed where this agent runs",
    ],
    ["can't be executed", { harness: { type: "llm-cli", command: "/etc/codex" } }, "/etc/codex"],
    ["gets a scripted model", { models: [aScripted([])] }, "only the pi harness"],
  ])("fails with a hint when the CLI %s", async (_how, options, expected) => {
    const { job } = await prepared("codex", {}, {}, options);
    const run = await runOf(job, { PATH: "/nonexistent" });
    expect(run.exitCode).toBe(1);
    expect(errorOf(run)).toContain(expected);
  });

  test("ends the CLI with all its processes when the run is stopped", async () => {
    const then = `setsid sleep 600 & echo $! > "$HOME/escaped"; touch "$HOME/ready"; sleep 600`;
    const behaviour = { stream: claudeStream.slice(0, 2), then };
    const { child, ended, workDir } = await startPlay("claude", behaviour);
    await expect.poll(() => readdir(workDir)).toContain("ready");
    child.kill("SIGTERM");
    const run = await ended;
    expect(run.exitCode).toBe(143);
    expect(errorOf(run)).toBe("it was stopped before it finished");
    const escaped = (await readFile(join(workDir, "escaped"), "utf8")).trim();
    // A busy machine takes its time to carry a kill out.
    const state = () => readFile(`/proc/${escaped}/stat`, "utf8").catch(() => "gone");
    await expect.poll(state).toMatch(/gone|\) Z /);
  });

  test("logs output lines that are not messages, and ignores messages that are too long or invalid", async () => {
    const odd = [
      '{"type":"assistant"}',
      '{"type":"assistant","message":{"content":"text"}}',
      '{"type":"assistant","message":{"content":[null,7,{"type":"tool_use"}]}}',
      '{"type":"something.new"}',
      "{not json",
    ];
    const then = `printf '{"type":"assistant","message":"'; head -c 9000000 /dev/zero | tr '\\0' x; echo '"}'`;
    const stderr = "a warning";
    const { run } = await play("claude", { stream: [...odd, ...claudeStream], stderr, then });
    expect(run.exitCode).toBe(0);
    expect(linesOf(run, "process").toSorted()).toEqual(
      ["{not json", "a message that is too long to read", "a warning"].toSorted(),
    );
  });
});
