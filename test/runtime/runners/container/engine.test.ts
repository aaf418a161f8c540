import { inspect } from "node:util";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";

test("an engine's HTTP agent is logged by its name only", () => {
  const engine = connectEngine({ env: { DOCKER_HOST: "unix:///nowhere/docker.sock" } });
  const { modem } = engine.calls() as unknown as { modem: { agent: object } };
  const deep = { showHidden: true, depth: null };
  expect(inspect({ agent: modem.agent }, deep)).toBe("{ agent: Agent }");
});
