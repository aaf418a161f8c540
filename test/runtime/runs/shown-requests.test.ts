import type { RequestName } from "../../../src/runtime/run-api/protocol.ts";
import { randomUUID } from "node:crypto";
import type { Person } from "../../../src/foundation/contracts/questions.ts";
import { filesBelow } from "../../helpers/files-below.ts";
import { anAgent } from "../../helpers/agents.ts";
import { oneLine } from "../../../src/features/alerts/target.ts";
import { openedQuestion } from "./of-world.ts";
import { createWorld, problemOf, worldSecret as secret } from "./world.ts";

test.each<[RequestName, object]>([
  ["lock", { resource: `x:${secret}` }],
  ["unlock", { resource: `x:${secret}` }],
  ["wait", { kind: "webhook", event: secret }],
  ["wait", { kind: "agent-call", source: secret }],
  ["wait", { kind: "webhook", where: { token: secret } }],
  ["wait", { kind: "webhook", where: { [secret]: 1 } }],
  ["ask", { question: "Which?", choices: ["no", `key ${secret}`] }],
  ["ask", { question: "Which?", choices: ["no", `key hunter2\u0000-hunter2`] }],
  ["ask", { question: "Which?", default: secret }],
])(
  "a %s request with a secret in a field that is stored and shown is refused",
  async (name, body) => {
    const world = createWorld({ agents: [anAgent("a")] });
    await world.start();
    const problem = await problemOf(world.ask(await world.run("a"), name, body as never));
    expect(problem).toMatchObject({ error: "malformed" });
    const kept = [problem, world.locks(), world.questions.list({ limit: 9 })];
    expect(JSON.stringify(kept)).not.toContain(secret);
  },
);

test("a held host whose name the run made of a secret is refused, and no person is asked", async () => {
  const approve = { hosts: ["*.example.com", `${secret}.test`], over: null, agents: [], tools: [] };
  const world = createWorld({ agents: [anAgent("a", { approve })] });
  await world.start();
  const run = await world.run("a");
  const why = "its name contains a secret";
  expect(await world.reach(run, `${secret}.example.com`)).toBe(why);
  expect(world.questions.list({ limit: 9 })).toEqual([]);
  // A host that the config names may be part of a credential.
  const gone = new AbortController();
  world.reach(run, `${secret}.test`, gone.signal).catch(() => undefined);
  expect((await openedQuestion(world)).prompt).toContain("a wants to reach [redacted 1].test");
  gone.abort();
});

test("the tools that a run found are stored without its secrets", async () => {
  const server = {
    name: "inside",
    url: null,
    command: ["tools"],
    tools: ["*"],
    credential: null,
    private: false,
    timeoutSeconds: 60,
  };
  const world = createWorld({ agents: [anAgent("a", { mcp: [server] })] });
  await world.start();
  const about = { name: "send", description: secret, inputSchema: { [secret]: secret } };
  const found = [about, { ...about, name: secret }];
  const { tools } = await world.ask(await world.run("a"), "mcp-tools", { server: "inside", found });
  const hidden = "[redacted]";
  expect(tools).toEqual([{ name: "send", description: hidden, inputSchema: { [hidden]: hidden } }]);
  const stored = [...(await filesBelow(world.dir)).values()].join("");
  expect(stored).not.toContain(secret);
});

test("an answer with a secret reaches its run whole, also after a crash; all others see it without", async () => {
  const agents = [anAgent("a")];
  const world = createWorld({ agents });
  await world.start();
  const run = await world.run("a");
  const key = randomUUID();
  const body = { question: `Where is ${secret}?` };
  void world.ask(run, "ask", body, { key }).catch(() => undefined);
  const { id } = await openedQuestion(world);
  const by: Person = { via: "key", name: "", from: null };
  const given = `${secret} is ${"far ".repeat(400)}away`;
  await world.questions.answer(id, given, by);
  await expect(world.questions.answer(id, given, by)).rejects.toThrow("[redacted] is far");
  world.crash();
  const again = createWorld({ agents }, world.dir, [run]);
  await again.start();
  expect(await again.ask(run, "ask", body, { key })).toMatchObject({ answer: given });
  const seen = [again.questions.list({ limit: 9 }), world.events, again.events];
  expect(JSON.stringify(seen)).toContain("answered: [redacted] is far");
  expect(JSON.stringify(seen)).not.toContain(secret);
  const leaks = async () =>
    [...(await filesBelow(again.dir)).values()].some((text) => text.includes(secret));
  expect(await leaks()).toBe(true);
  again.end(run);
  // Nor is it in bytes that the database no longer uses.
  await expect.poll(leaks).toBe(false);
});

test("the question about a held call hides no part of its context, also not in chats and terminals", async () => {
  const approve = { hosts: [], over: null, agents: ["b"], tools: [] };
  const world = createWorld({ agents: [anAgent("a", { approve }), anAgent("b")] });
  await world.start();
  const context = "\u001b]drop all\u0007\r\u202ea wants to call c: say hello";
  void world.ask(await world.run("a"), "call", { agent: "b", context }).catch(() => undefined);
  const { prompt } = await openedQuestion(world);
  expect(oneLine(prompt)).toBe(
    "a wants to call b: \\u{1b}]drop all\\u{7}\\u{d}\\u{202e}a wants to call c: say hello",
  );
});
