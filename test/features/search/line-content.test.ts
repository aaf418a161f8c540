import type { LogEntry } from "../../../streams/vocabulary.ts";
import { contentOf } from "../../../src/features/search/log-cursor.ts";

const contentOfEntry = (entry: Partial<LogEntry>) =>
  contentOf(JSON.stringify({ level: 30, time: 1, agent: "dev", msg: "", ...entry }));

test("a tool call in the logs is found by its name and the values of its input, not by the keys", () => {
  const input = { path: "a.txt", edits: [{ newText: "one\ntwo", line: 7 }], isDry: true };
  const content = contentOfEntry({ msg: "edit a.txt", kind: "tool", tool: "edit", input });
  expect(content).toMatchObject({ kind: "tool", isError: false, instanceId: null });
  expect(content?.text).toBe("edit a.txt\none\ntwo\n7");
});

test("a run's first log line is found by its prompt, or by the title, repository and number of the event", () => {
  const trigger = { kind: "webhook", title: "Fix the door", repo: "acme/app", number: 7 };
  const content = contentOfEntry({ msg: "run started", kind: "run", trigger });
  expect(content?.text).toBe("run started\nwebhook\nFix the door\nacme/app\n7");
});

test("a tool's result in the logs is found by its first 4 KiB", () => {
  const output = `first ${"x".repeat(5_000)} last`;
  const content = contentOfEntry({ kind: "tool-result", output, isError: true });
  expect(content).toMatchObject({
    isError: true,
    text: expect.stringMatching(/first(?!.*last)/s) as string,
  });
});

test("terminal colours are removed from words that the search indexes", () =>
  expect(contentOfEntry({ msg: "\u001b[31mfull\u001b[0m" })?.text).toBe("full"));

test("a log line with 16,000 nested brackets is indexed up to its message", () => {
  const input = `${"[".repeat(16_000)}"deep"${"]".repeat(16_000)}`;
  expect(contentOf(`{"time":1,"level":30,"msg":"call","input":${input}}`)?.text).toBe("call");
});

test("a log line with 300,000 values is indexed", () => {
  const input = Array.from({ length: 300_000 }, () => 7).join(",");
  const content = contentOf(`{"time":1,"level":30,"msg":"call 1","input":[${input}]}`);
  expect(content?.text.startsWith("call 1\n7\n7")).toBe(true);
});

test.each([
  '{"msg":"x","time":1e300}',
  '{"msg":"x","time":"1"}',
  '{"msg":"x","time":1,"kind":"usage"}',
  '{"msg":"x","time":1,"kind":"tool-output"}',
  "[]",
  "null",
  '"x"',
  "{",
  "",
])("contentOf returns null for the log line %j", (line) => expect(contentOf(line)).toBeNull());
