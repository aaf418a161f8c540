import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Provider } from "../../../../streams/agent-config.ts";
import { aModel } from "../jobs.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { runSession } from "./run-session.ts";
import { data, named } from "./wires/wire-format.ts";
import { perFile } from "../../../helpers/per-test.ts";

interface Call {
  readonly id: string;
  readonly name: string;
  /** Arguments as they come. */
  readonly json: string;
}

const intended: readonly (readonly [string, object])[] = [
  ["bash", { command: 'touch made "ma\\de" mäde' }],
  ["bash", { timeout: 5, command: "touch made" }],
  ["write", { path: "made", content: "whole" }],
  ["write", { content: "whole", path: "made" }],
];
const id = (n: number) => `call${String(n).padStart(5, "0")}`;

/** Each call cut behind each of its characters, and two that are whole. */
const cut = intended.flatMap(([name, input]) => {
  const json = JSON.stringify(input);
  return Array.from(json, (_character, at) => ({ name, json: json.slice(0, at) }));
});
const whole = [
  { name: "bash", json: '{"command":"touch whole"}' },
  { name: "write", json: '{ "path": "written", "content": "" }\n' },
];
const calls: readonly Call[] = [...cut, ...whole].map((call, n) => ({ ...call, id: id(n) }));

const pieces = (json: string) => json.match(/[^]{1,7}/g) ?? [];

function messages(stop: string): string {
  const usage = { input_tokens: 10, output_tokens: 2 };
  return [
    named({ type: "message_start", message: { id: "m", content: [], usage } }),
    ...calls.map(({ json, ...call }, index) =>
      named(
        {
          type: "content_block_start",
          index,
          content_block: { type: "tool_use", ...call, input: {} },
        },
        ...pieces(json).map((partial_json) => ({
          type: "content_block_delta",
          index,
          delta: { type: "input_json_delta", partial_json },
        })),
        { type: "content_block_stop", index },
      ),
    ),
    named({ type: "message_delta", delta: { stop_reason: stop }, usage }, { type: "message_stop" }),
  ].join("");
}

function completions(stop: string): string {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    data({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason }],
    });
  const piecesOf = ({ json, name, id }: Call, index: number) =>
    ["", ...pieces(json)].map((part, at) =>
      chunk({
        tool_calls: [
          {
            index,
            ...(at === 0 ? { id, type: "function" } : {}),
            function: { ...(at === 0 ? { name } : {}), arguments: part },
          },
        ],
      }),
    );
  return [...calls.flatMap(piecesOf), chunk({ content: "" }, stop), "data: [DONE]\n\n"].join("");
}

/** `inPieces`: whether the arguments come before the end of a call, too. */
function responses(stop: string, inPieces: boolean): string {
  const itemOf = ({ id, name }: Call) => ({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name,
  });
  const [status, incomplete_details] =
    stop === "completed" ? [stop, null] : ["incomplete", { reason: stop }];
  return [
    ...calls.map((call, output_index) =>
      named(
        {
          type: "response.output_item.added",
          output_index,
          item: { ...itemOf(call), arguments: "" },
        },
        ...(inPieces ? pieces(call.json) : []).map((delta) => ({
          type: "response.function_call_arguments.delta",
          output_index,
          delta,
        })),
        {
          type: "response.output_item.done",
          output_index,
          item: { ...itemOf(call), arguments: call.json },
        },
      ),
    ),
    named({
      type: `response.${status}`,
      response: { id: "r", status, output: [], incomplete_details },
    }),
  ].join("");
}

const answers: readonly (readonly [Provider, string, string, string])[] = [
  ...["tool_use", "end_turn", "stop_sequence", "pause_turn", "max_tokens"].map(
    (stop) => ["anthropic", "claude-opus-4-5", stop, messages(stop)] as const,
  ),
  ...["tool_calls", "stop", "length"].flatMap((stop) => [
    ["custom", "local-1", stop, completions(stop)] as const,
    ["groq", "llama-3.3-70b-versatile", stop, completions(stop)] as const,
    ["mistral", "mistral-medium-latest", stop, completions(stop)] as const,
  ]),
  ...["completed", "max_output_tokens"].flatMap((stop) => [
    ["openai", "gpt-5.1", stop, responses(stop, true)] as const,
    ["xai", "grok-4.3", stop, responses(stop, false)] as const,
  ]),
];

const headers = { "content-type": "text/event-stream" };
const done = { reply: { kind: "text", text: "Done." } } as const;
const root = perFile(() => mkdtemp(join(tmpdir(), "al-cut-")));
const upstream = perFile(startFakeUpstream);
afterAll(async () => {
  await upstream().close();
  await rm(root(), { recursive: true, force: true });
});

test.each(answers)(
  "arguments of a tool call that was cut are never executed: %s %s, %s",
  async (provider, model, stop, body) => {
    const workDir = join(root(), `${provider}-${stop}`);
    await mkdir(workDir);
    const route = upstream().route([{ status: 200, headers, body }, done]);
    const models = [aModel("first", route.baseUrl, { provider, model })];
    const { error } = await runSession({ workDir, models });
    expect(error).toBeNull();
    const isCut = ["length", "max_tokens", "max_output_tokens"].includes(stop);
    expect(await readdir(workDir)).toEqual(isCut ? [] : ["whole", "written"]);
    const told =
      route.requests.at(-1)?.split("are not whole JSON; it was not executed").length ?? 0;
    // Others lack an argument that their tool needs, which its schema finds first.
    if (!isCut) expect(told - 1).toBeGreaterThan(cut.length / 4);
  },
);

test("arguments of a tool call that was cut end the answer if they are a part of its JSON, as Google's are", async () => {
  const workDir = join(root(), "google");
  await mkdir(workDir);
  const [event] = data({
    candidates: [
      {
        content: { parts: [{ functionCall: { name: "bash", args: { command: "touch made" } } }] },
        finishReason: "STOP",
      },
    ],
  }).split("\n");
  const bodies = Array.from(event ?? "", (_character, at) => `${event?.slice(0, at)}\n\n`).slice(
    80,
  );
  const actions = bodies.map((body) => ({ status: 200, headers, body }));
  const route = upstream().route([...actions, done]);
  const model = { provider: "google", model: "gemini-2.5-pro", maxRetries: 100 } as const;
  await runSession({ workDir, models: [aModel("first", route.baseUrl, model)] });
  expect(route.requests.length).toBeGreaterThan(bodies.length / 2);
  expect(await readdir(workDir)).toEqual([]);
});
