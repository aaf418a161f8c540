import type { RequestName } from "../../../src/runtime/run-api/protocol.ts";
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
])(
  "a %s request with a secret in a field that is stored and shown is refused",
  async (name, body) => {
    const world = createWorld({ agents: [anAgent("a")] });
    await world.start();
    const problem = await problemOf(world.ask(await world.run("a"), name, body as never));
    expect(problem).toMatchObject({ error: "malformed" });
    expect(JSON.stringify([problem, world.locks()])).not.toContain(secret);
  },
);

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
