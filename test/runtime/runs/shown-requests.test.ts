import { randomUUID } from "node:crypto";
import type { RequestName } from "../../../src/runtime/wire/protocol.ts";
import { anAgent } from "../../helpers/agents.ts";
import { filesBelow } from "../../helpers/files-below.ts";
import {
  ada,
  anMcpServer,
  approving,
  asked,
  openedQuestion,
  restarted,
  startedWorld,
} from "./of-world.ts";
import { worldSecret as secret, type World } from "./world.ts";

const textsBelow = async ({ dir }: World) => [...(await filesBelow(dir)).values()].join("");

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
])("a run's request %s %j is rejected because it contains a secret", async (name, body) => {
  const { world, run } = await startedWorld({ agents: [anAgent("a")] });
  const error: unknown = await world.ask(run, name, body as never).catch((why: unknown) => why);
  expect(error).toMatchObject({ code: "malformed" });
  const kept = [String(error), error, world.locks(), world.questions.list({ limit: 9 })];
  expect(JSON.stringify(kept)).not.toContain(secret);
});

test("a host that needs approval and whose name contains a secret is rejected without a question", async () => {
  const a = anAgent("a", approving({ hosts: ["*.example.com", `${secret}.test`] }));
  const { world, run } = await startedWorld({ agents: [a] });
  expect(await world.reach(run, `${secret}.example.com`)).toBe("its name contains a secret");
  expect(asked(world)).toBe(0);
  // A host that the config names may be part of a credential.
  void world.reach(run, `${secret}.test`);
  expect((await openedQuestion(world)).prompt).toContain("a wants to reach [redacted 1].test");
});

test("the list of MCP tools that a run found is stored without secrets", async () => {
  const mcp = [anMcpServer({ command: ["tools"] })];
  const { world, run } = await startedWorld({ agents: [anAgent("a", { mcp })] });
  const about = { name: "send", description: secret, inputSchema: { [secret]: secret } };
  const found = [about, { ...about, name: secret }];
  const { tools } = await world.ask(run, "mcp-tools", { server: "hub", found });
  const hidden = "[redacted]";
  expect(tools).toEqual([{ name: "send", description: hidden, inputSchema: { [hidden]: hidden } }]);
  expect(await textsBelow(world)).not.toContain(secret);
});

test("a person's answer with a secret reaches its run unchanged, also after a crash, and is redacted elsewhere", async () => {
  const { world, run } = await startedWorld({ agents: [anAgent("a")] });
  const key = randomUUID();
  const body = { question: `Where is ${secret}?` };
  void world.ask(run, "ask", body, { key });
  const { id } = await openedQuestion(world);
  const given = `${secret} is ${"far ".repeat(400)}away`;
  await world.questions.answer(id, given, ada);
  await expect(world.questions.answer(id, given, ada)).rejects.toThrow("[redacted] is far");
  const again = await restarted(world, [run]);
  expect(await again.ask(run, "ask", body, { key })).toMatchObject({ answer: given });
  const seen = JSON.stringify([again.questions.list({ limit: 9 }), world.events, again.events]);
  expect(seen).toContain("answered: [redacted] is far");
  expect(seen).not.toContain(secret);
  const leaks = async () => (await textsBelow(again)).includes(secret);
  expect(await leaks()).toBe(true);
  again.end(run);
  // Nor is it in bytes that the database no longer uses.
  await expect.poll(leaks).toBe(false);
});
