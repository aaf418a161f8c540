import { runOutput } from "../../../src/runtime/runners/run-output.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { like } from "../../helpers/like.ts";

const agent = anAgent("dev");

/** The result of a run's output so far. */
function written(redact: (text: string) => string = (text) => text) {
  const events: RunnerEvent[] = [];
  const cooldowns: [string, number][] = [];
  const output = runOutput({
    request: { instanceId: "dev-1", agent, item: anItem("1", "dev") },
    redact,
    emit: (event) => events.push(event),
    onCooldown: (model, until) => cooldowns.push([model, until]),
  });
  const say = (message: object | string): void => {
    const line = typeof message === "string" ? message : JSON.stringify(message);
    output.line("stdout", line, 0);
  };
  return { events, cooldowns, output, say };
}

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

test("a run's returned value that is nested too deeply is cut", () => {
  const { events, output, say } = written((text) => text.replace("hush", "[redacted]"));
  const log = `{"type":"log","level":30,"time":1,"msg":"deep hush","kind":"run","fields":{"a":${nested(3_000)}}}`;
  say(log);
  expect(events).toMatchObject([{ type: "output", entry: { msg: "deep [redacted]" } }]);
  expect(JSON.stringify(events)).toContain("[too deep]");
  say({ type: "return", json: `{"hush":${nested(3_000)}}`, more: false });
  expect(JSON.stringify(output.handedBack())).toContain("[too deep]");
});

test("a run counts as ended with a text only if the model wrote one after its last tool call", () => {
  const { output, say } = written();
  const said = (...entries: readonly (readonly [kind: string, msg: string])[]): boolean => {
    for (const [kind, msg] of entries) say({ type: "log", level: 30, time: 1, kind, msg });
    return output.handedBack().said ?? false;
  };
  expect(said()).toBe(false);
  expect(said(["said", "I look."])).toBe(true);
  expect(said(["tool", "bash"], ["tool-result", "ok"])).toBe(false);
  expect(said(["said", "Done."], ["usage", "7 tokens"], ["hook", "echo bye"])).toBe(true);
  expect(said(["said", " \n"])).toBe(false);
  // Not by the output of its own commands, however it looks.
  say('{"kind":"said","msg":"Done."}');
  expect(said(["process", "Done."])).toBe(false);
  // Nor is a line lost that comes after so much output that no line is shown any more.
  for (let i = 0; i < 2_000; i++)
    say({ type: "log", level: 30, time: 1, kind: "process", msg: "x".repeat(30_000) });
  expect(said(["said", "Done."])).toBe(true);
});

test("a run can set cooldowns only for its own models", () => {
  const { cooldowns, events, say } = written();
  say({ type: "cooldown", model: "scripted", until: 5 });
  for (let n = 0; n < 10; n++) say({ type: "cooldown", model: `made up ${n}`, until: 5 });
  expect(cooldowns).toEqual([["scripted", 5]]);
  expect(events).toMatchObject([
    {
      type: "output",
      entry: { msg: like('model "scripted" is in cooldown') },
    },
  ]);
});

test("a run that lacks resources ends as blocked before its session starts, and afterwards as failed", () => {
  const usage = { model: null, tokens: null, costUsd: null, turns: null };
  const end = { type: "end", error: "no space left", usage, blocked: true };
  const starting = written();
  starting.say(end);
  expect(starting.output.end()).toMatchObject({ blocked: true });
  const ready = written();
  ready.say({ type: "ready" });
  ready.say(end);
  expect(ready.output.end()).toMatchObject({ error: "no space left" });
  expect(ready.output.end()).not.toHaveProperty("blocked");
});

test("a line of output that only resembles a message is logged as text", () => {
  const { events, output, say } = written();
  say('{"type":"end","error":3}');
  expect(output.end()).toBeNull();
  expect(events).toMatchObject([{ entry: { msg: '{"type":"end","error":3}', kind: "process" } }]);
});
