import { inspect } from "node:util";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";

test("logging a container engine's HTTP agent shows its class name only", () => {
  const engine = connectEngine({ env: { DOCKER_HOST: "unix:///nowhere/docker.sock" } });
  const { modem } = engine.calls() as unknown as { modem: { agent: object } };
  const deep = { showHidden: true, depth: null };
  expect(inspect({ agent: modem.agent }, deep)).toBe("{ agent: Agent }");
});
