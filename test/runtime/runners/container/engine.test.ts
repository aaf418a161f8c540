import { inspect } from "node:util";
import { expect, test } from "vitest";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";

test("a request's options are put into few words, however much goes on", () => {
  const engine = connectEngine({ env: { DOCKER_HOST: "unix:///nowhere/docker.sock" } });
  const { modem } = engine.calls() as unknown as { modem: { agent: object } };
  const deep = { showHidden: true, depth: null };
  expect(inspect({ agent: modem.agent }, deep)).toBe("{ agent: Agent }");
});
