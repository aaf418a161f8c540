import { parse } from "smol-toml";
import { endMessageOf, logsOf, type EndedRun } from "../run-entry.ts";
import { play, startPlay } from "./play.ts";
import { claudeStream, codexFailure, codexStream, geminiStream } from "./streams.ts";

const warnings = (run: EndedRun) =>
  logsOf(run, "run").flatMap(({ level, msg }) => (level === 40 ? [msg] : []));
const cooldowns = (run: EndedRun) => run.messages.filter(({ type }) => type === "cooldown");
const limit = "exceeded retry limit, last status: 429 Too Many Requests";
const limited = { kind: "retry", message: "429 slow down", cooldownMs: 60_000 } as const;

/** Shell code of a codex that fails until it is resumed. */
function resumable(stream: readonly object[]): string {
  const lines = (events: readonly object[]) =>
    events.map((event) => `${JSON.stringify(event)}\n`).join("");
  const print = (events: readonly object[]) => `cat <<'END'\n${lines(events)}END\n`;
  return `case "$*" in *" resume 01a1 -") ${print(stream)};; *) ${print(codexFailure(limit))} exit 1;; esac`;
}

test("each external CLI retries a transiently failed model request as often as the model's config says", async () => {
  const claude = await play("claude", { stream: claudeStream }, { maxRetries: 2 });
  expect(await claude.cli.env()).toMatchObject({ CLAUDE_CODE_MAX_RETRIES: "2" });
  const cat = (file: string) => `cat "${file}" > "$HOME/../settings"`;
  const settings = cat("$CODEX_HOME/config.toml");
  const codex = await play("codex", { stream: codexStream, then: settings }, { maxRetries: 2 });
  expect(parse(await codex.file("settings"))).toMatchObject({
    model_providers: {
      configured: {
        base_url: expect.stringMatching(/\/model\/main\/api\.openai\.com\/v1$/) as string,
        wire_api: "responses",
        supports_websockets: false,
        request_max_retries: 0,
        stream_max_retries: 2,
      },
    },
  });
  const then = cat("$GEMINI_CLI_HOME/.gemini/settings.json");
  const gemini = await play("gemini", { stream: geminiStream, then }, { maxRetries: 2 });
  expect(JSON.parse(await gemini.file("settings"))).toMatchObject({ general: { maxAttempts: 3 } });
});

test("a retry of a model request by claude or codex is logged", async () => {
  const retry = {
    type: "system",
    subtype: "api_retry",
    attempt: 1,
    max_retries: 3,
    retry_delay_ms: 549.5,
    error_status: 429,
    error: "rate_limit",
  };
  const { run: claude } = await play("claude", { stream: [retry, ...claudeStream] });
  expect(warnings(claude)).toEqual([
    "the model failed (429 rate_limit); claude retries in 0.5 s (1 of 3)",
  ]);
  const error = { type: "error", message: "Reconnecting... 1/3 (stream disconnected)" };
  const { run: codex } = await play("codex", { stream: [error, ...codexStream] });
  expect(warnings(codex)).toContain(
    "the model failed (stream disconnected); codex retries (1 of 3)",
  );
  expect([...cooldowns(claude), ...cooldowns(codex)]).toEqual([]);
});

test("codex, which does not retry a 429 itself, is resumed in the same session", async () => {
  const { run, cli } = await play("codex", { then: resumable(codexStream), failure: limited });
  expect(run.exitCode).toBe(0);
  expect(await cli.input()).toBe("Continue.");
  expect(warnings(run)).toContainEqual(
    expect.stringMatching(/429 .*; codex resumes in \d\.\d s \(1 of 3\)$/),
  );
  expect(cooldowns(run)).toEqual([]);
});

test.each([
  [
    "twice if it is rate-limited, and sets a cooldown of the model",
    limited,
    2,
    [{ model: "main" }],
  ],
  ["once if a retry can't help", { kind: "fallback", message: "401 no" } as const, 1, []],
])(
  "a model request of codex that always fails is made %s",
  async (_how, failure, count, cooled) => {
    const then = `echo once >> "$HOME/../starts"`;
    const behaviour = { stream: codexFailure(limit), failure, then, exitCode: 1 };
    const { run, file } = await play("codex", behaviour, { maxRetries: 1 });
    expect(endMessageOf(run).error).toContain(failure.message);
    expect(await file("starts")).toBe("once\n".repeat(count));
    expect(cooldowns(run)).toMatchObject(cooled);
  },
);

test.each([
  ["made all retries itself", { failure: limited, failures: 4 }],
  ["has to wait for most of the run's time", { failure: { ...limited, retryAfterMs: 40_000 } }],
] as const)("a session of codex that %s is not resumed", async (_what, failed) => {
  const then = `echo once >> "$HOME/../starts"`;
  const behaviour = { stream: codexFailure(limit), then, exitCode: 1, ...failed };
  const { file } = await play("codex", behaviour, { maxRetries: 3 });
  expect(await file("starts")).toBe("once\n");
});

test("an external CLI that waits for a retry ends at once when the run is stopped", async () => {
  const { child, ended } = await startPlay("codex", {
    stream: codexFailure(limit),
    failure: limited,
    exitCode: 1,
  });
  child.stdout.on("data", (chunk: Buffer) => {
    if (chunk.toString("utf8").includes("codex resumes in")) child.kill("SIGTERM");
  });
  const run = await ended;
  expect(run.exitCode).toBe(143);
  expect(warnings(run).filter((line) => line.includes("codex resumes in"))).toHaveLength(1);
});
