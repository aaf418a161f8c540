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
