import { get } from "node:http";
import { createStatusStore } from "../../../src/foundation/scheduler/status-store.ts";
import type { StatusStore } from "../../../src/foundation/scheduler/status-store.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { bearer, startTcp, testDeps, type TestDeps } from "./start-gateway.ts";

const streamPath = "/dashboard/api/status-stream";

/** A board with a thousand agents, as the scheduler has it. */
function largeBoard(): StatusStore {
  const { scheduler } = testDeps().operations.snapshot();
  const board = createStatusStore(scheduler, () => ({}));
  for (let i = 0; i < 1_000; i++) {
    const agent = `agent-${String(i).padStart(4, "0")}`;
    const config = anAgent(agent, {
      description: "Looks after what it is told to.",
      schedule: "0 9 * * *",
    });
    board.apply({ type: "agent-set", agent, at: i, config, warnings: [], summary: "added" });
  }
  return board;
}

function depsOf(board: StatusStore): TestDeps {
  const deps = testDeps();
  Object.assign(deps.operations, { snapshot: () => board.snapshot(), update$: board.update$ });
  return deps;
}

interface Client {
  /** How many bytes came since the last call. */
  readonly take: () => number;
  /** Whether that came since `take` was called. */
  readonly has: (word: string) => boolean;
  readonly begun: Promise<void>;
}

/** A client that reads everything and keeps only what came since it was asked. */
function open(url: string): Client {
  let [bytes, text] = [0, ""];
  const begun = new Promise<void>((resolve, reject) => {
    const request = get(url, { headers: bearer, agent: false }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        bytes += Buffer.byteLength(chunk);
        text = (text + chunk).slice(-4_000);
        // The line of the retry time comes before the snapshot.
        if (text.endsWith("\n\n") && bytes > 1_000) resolve();
      });
      response.on("error", () => undefined);
    });
    request.on("error", reject);
    onTestFinished(() => void request.destroy());
  });
  const take = (): number => {
    const taken = bytes;
    [bytes, text] = [0, ""];
    return taken;
  };
  return { take, has: (word) => text.includes(word), begun };
}

test("with 1,000 agents and 200 streams a change costs each client under 1.1 kB", async () => {
  const board = largeBoard();
  const url = (await startTcp(depsOf(board))) + streamPath;
  const clients = Array.from({ length: 200 }, () => open(url));
  await Promise.all(clients.map(({ begun }) => begun));
  for (const { take } of clients) take();

  const sizes: number[] = [];
  for (let change = 0; change < 10; change++) {
    const agent = `agent-${String(change * 99).padStart(4, "0")}`;
    const item = anItem(`w${change}`, agent);
    board.apply({ type: "started", agent, at: Date.now(), item, instanceId: `${agent}-abcdefgh` });
    const cameTo = () => clients.filter(({ has }) => has(`"name":"${agent}"`)).length;
    await expect.poll(cameTo).toBe(clients.length);
    sizes.push(...clients.map(({ take }) => take()));
  }
  expect(Math.max(...sizes)).toBeLessThan(1_100);
});
