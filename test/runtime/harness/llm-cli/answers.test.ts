import { endMessageOf } from "../run-entry.ts";
import { play, type Program } from "./play.ts";
import { geminiTelemetry } from "./records.ts";
import type { Behaviour } from "./stand-in.ts";
import { claudeFailure, claudeStream, codexFailure, codexStream, geminiStream } from "./streams.ts";

const claudeEnd = (end: object) => [
  ...claudeStream.slice(0, -1),
  { ...claudeStream.at(-1), ...end },
];
const codexLimit = "Incomplete response returned, reason: max_output_tokens";
const geminiError = (message: string, status = "error") => [
  ...geminiStream.slice(0, -1),
  { type: "error", severity: "error", message },
  { type: "result", status, stats: { total_tokens: 120 } },
];
const blocked = "The model response was blocked due to safety settings.";

const table: readonly (readonly [Program, string, Behaviour, string])[] = [
  [
    "claude",
    "was cut at its output limit",
    { stream: [claudeFailure("exceeded the 32000 output token maximum")], exitCode: 1 },
    "exceeded the 32000 output token maximum",
  ],
  [
    "claude",
    "was cut at its output limit, though it reports success",
    { stream: claudeEnd({ stop_reason: "max_tokens" }) },
    "the answer was cut at its output limit",
  ],
  ["claude", "is empty", { stream: claudeEnd({ result: "" }) }, "the answer was empty"],
  [
    "claude",
    "is a refusal",
    { stream: claudeEnd({ stop_reason: "refusal" }) },
    "the model refused to answer",
  ],
  ["codex", "was cut at its output limit", { stream: codexFailure(codexLimit) }, codexLimit],
  [
    "codex",
    "is empty or a refusal",
    { stream: codexStream.filter((_line, index) => index !== codexStream.length - 2) },
    "the answer was empty or a refusal",
  ],
  [
    "gemini",
    "was cut at its output limit",
    { stream: geminiStream, then: geminiTelemetry("stop", "length") },
    "the answer was cut at its output limit",
  ],
  [
    "gemini",
    "was filtered",
    { stream: geminiStream, then: geminiTelemetry("content_filter") },
    "the provider's content filter stopped the answer",
  ],
  ["gemini", "was blocked", { stream: geminiError(blocked) }, blocked],
  [
    "gemini",
    "was stopped by its loop detection",
    { stream: geminiError("Loop detected", "success") },
    "Loop detected",
  ],
];

test.each(table)(
  "the llm-cli harness fails if the last answer of %s %s",
  async (program, _how, behaviour, reason) => {
    const { run } = await play(program, behaviour);
    expect(run.exitCode).toBe(1);
    const { error, usage } = endMessageOf(run);
    expect(error).toContain(`model "main": `);
    expect(error).toContain(reason);
    expect(usage.model).toBe("main");
  },
);

test("the llm-cli harness succeeds when only an earlier answer of gemini was filtered", async () => {
  const then = geminiTelemetry("content_filter", "stop");
  const { run } = await play("gemini", { stream: geminiStream, then });
  expect(endMessageOf(run).error).toBeNull();
});

test("the llm-cli harness reports an error event of codex even without a failed turn", async () => {
  const stream = [
    { type: "thread.started", thread_id: "01a1" },
    { type: "error", message: "unexpected status 401 Unauthorized: no such key" },
  ];
  const { run } = await play("codex", { stream, exitCode: 1 });
  expect(endMessageOf(run).error).toBe(
    'model "main": unexpected status 401 Unauthorized: no such key',
  );
});
