import { askEngine } from "../../../../src/runtime/cluster/swarm/ask-engine.ts";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";

const engine = connectEngine({ env: { DOCKER_HOST: "unix:///nowhere.sock" } });
const refusal = (statusCode: number, message: string) =>
  Object.assign(new Error(message), { statusCode, json: { message } });
const asked = (error: Error) => askEngine(engine, () => Promise.reject(error));

test.each([
  [503, "rpc error: code = Unknown desc = The swarm does not have a leader."],
  [500, "rpc error: code = DeadlineExceeded desc = context deadline exceeded"],
  [
    500,
    "rpc error: code = Unknown desc = raft: failed to process the request: node lost leader status",
  ],
  [503, "This node is not a swarm manager. Use docker swarm init to make it one."],
])(
  "a request to an engine is rejected with engine_unreachable by a Swarm without its leader: %i %s",
  async (status, message) => {
    await expect(asked(refusal(status, message))).rejects.toMatchObject({
      code: "engine_unreachable",
      message: `the engine at unix:///nowhere.sock does not answer (${message})`,
    });
  },
);

test("a request to an engine is rejected with the engine's reason", async () => {
  const error = refusal(400, "invalid mount config");
  await expect(asked(error)).rejects.toMatchObject({
    code: "engine_refused",
    message: "the engine at unix:///nowhere.sock refused it: invalid mount config",
  });
});
