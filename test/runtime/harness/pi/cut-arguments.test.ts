import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { aModel } from "../jobs.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { runSession } from "./run-session.ts";
import { completions } from "./wires/completions.ts";
import { messages } from "./wires/messages.ts";
import { responses } from "./wires/responses.ts";
import type { Ending, Reply, ToolCall } from "./wires/wire-format.ts";
import { isLong } from "../../../helpers/long.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perFile, perTest } from "../../../helpers/per-test.ts";

const intended: readonly (readonly [string, object])[] = [
  ["bash", { command: 'touch made "ma\\de" mäde' }],
  ["bash", { timeout: 5, command: "touch made" }],
  ["write", { path: "made", content: "whole" }],
  ["write", { content: "whole", path: "made" }],
];

/** The text cut behind each of its characters; in the short form behind each third. */
const cutsOf = (text: string) =>
  Array.from(text, (_character, at) => text.slice(0, at)).filter((_, at) => isLong || at % 3 === 0);
const cut = intended.flatMap(([name, input]) =>
  cutsOf(JSON.stringify(input)).map((json) => ({ name, json })),
);
const whole = [
  { name: "bash", json: '{"command":"touch whole"}' },
  { name: "write", json: '{ "path": "written", "content": "" }\n' },
];
const calls: readonly ToolCall[] = [...cut, ...whole].map((call, n) => ({
  ...call,
  id: `call${String(n).padStart(5, "0")}`,
}));

const done = { reply: { kind: "text", text: "Done." } } as const;
const upstream = perFile(startFakeUpstream, (upstream) => upstream.close());
const workDir = perTest(async () => {
  const dir = join(tempDir(), "work");
  await mkdir(dir);
  return dir;
});

/** Some servers send the arguments of a call only with its end. */
const withoutPieces = (reply: Reply) =>
  responses.stream(reply).replaceAll(/event: response\.function_call_arguments.*\n.*\n\n/g, "");
const headers = { "content-type": "text/event-stream" };
const models = [
  ["anthropic", "claude-opus-4-5", messages.stream],
  ["openai", "gpt-5.1", responses.stream],
  ["xai", "grok-4.3", withoutPieces],
  ["mistral", "mistral-medium-latest", completions.stream],
  ["custom", "local-1", completions.stream],
] as const;

describe.each(models)(
  "a tool call of %s's %s whose arguments are cut",
  (provider, model, stream) => {
    test.each<[string, Ending | undefined, readonly string[]]>([
      ["tool calls", undefined, ["whole", "written"]],
      ["a normal end", "normal", ["whole", "written"]],
      ["the output limit", "cut", []],
    ])("is not executed if the stop reason is %s", async (_stop, ending, files) => {
      const body = stream({ kind: "calls", calls, ...(ending && { ending }) });
      const route = upstream().route([{ status: 200, headers, body }, done]);
      const models = [aModel("first", route.baseUrl, { provider, model })];
      const { error } = await runSession({ workDir: workDir(), models });
      expect(error).toBeNull();
      expect(await readdir(workDir())).toEqual(files);
      // The model reads why each call was refused.
      const refused = /(Invalid arguments|Validation failed) for tool/g;
      if (ending !== "cut") expect(route.requests.at(-1)?.match(refused)).toHaveLength(cut.length);
    });
  },
);

test.each([
  ["anthropic", "claude-opus-4-5"],
  ["openai", "gpt-5.1"],
  ["mistral", "mistral-medium-latest"],
  ["custom", "local-1"],
] as const)(
  "a session with %s's %s has a result for each call of three answers that were cut",
  async (provider, model) => {
    const ids = ["aaaaaaaa1", "aaaaaaaa2", "aaaaaaaa3", "aaaaaaaa4"];
    const [first = "", ...others] = ids;
    const call = (id: string, json = '{"command":"touch mad') => ({ id, name: "bash", json });
    const whole = call(first, '{"command":"touch made"}');
    const cuts = [[whole, call(ids[1] ?? "")], ...others.slice(1).map((id) => [call(id)])];
    const actions = cuts.map((calls) => ({
      reply: { kind: "calls", calls, ending: "cut" } as const,
    }));
    const route = upstream().route([...actions, done]);
    const models = [aModel("first", route.baseUrl, { provider, model })];
    expect(await runSession({ workDir: workDir(), models })).toMatchObject({ error: null });
    const last = route.requests.at(-1) ?? "";
    const results = last.matchAll(/"(?:tool_use_id|tool_call_id|call_id)":"(a+\d)"(?!,"name")/g);
    const asked = last.matchAll(/"(?:id|call_id)":"(a+\d)"(?!,"output")/g);
    for (const found of [asked, results]) expect(Array.from(found, ([, id]) => id)).toEqual(ids);
    expect(await readdir(workDir())).toEqual([]);
  },
);
