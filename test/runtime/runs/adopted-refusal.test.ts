import type { RunSocket } from "../../../src/runtime/run-api/run-socket.ts";
import { anAgent } from "../../helpers/agents.ts";
import { entryOf, startedWorld } from "./of-world.ts";
import { createWorld } from "./world.ts";

test("a run whose model call was refused ends as over_budget even if another scheduler adopts it", async () => {
  const { world, run } = await startedWorld({ agents: [anAgent("a")] });
  await world.refuseCall(run, "all is spent");
  world.crash();
  const next = createWorld(world.options, world.dir, [run]);
  const socket: Partial<RunSocket> = { [Symbol.dispose]: () => undefined };
  next.runs.adoptSockets(new Map([[run, socket as RunSocket]]));
  await next.start();
  next.end(run, { exitCode: 1, error: "403" });
  await expect
    .poll(() => entryOf(next, run))
    .toMatchObject({ outcome: "over_budget", reason: "all is spent" });
});
