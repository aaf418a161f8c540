import { expect, test } from "vitest";
import type { RequestName } from "../../../src/runtime/run-api/protocol.ts";
import { anAgent } from "../../helpers/agents.ts";
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
