import { get } from "node:http";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { setTimeout as sleep } from "node:timers/promises";
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
  /** Bytes that came since the last call, and when the last of them came, epoch of `performance`. */
  readonly take: () => { bytes: number; at: number; text: string };
  /** Whether that came since `take` was called. */
  readonly has: (word: string) => boolean;
  readonly begun: Promise<void>;
}

/** A client that reads everything and keeps only what came since it was asked. */
function open(url: string): Client {
  let [bytes, at, text] = [0, 0, ""];
  const begun = new Promise<void>((resolve, reject) => {
    const request = get(url, { headers: bearer, agent: false }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        bytes += Buffer.byteLength(chunk);
        at = performance.now();
        text = (text + chunk).slice(-4_000);
        // The line of the retry time comes before the snapshot.
        if (text.endsWith("\n\n") && bytes > 1_000) resolve();
      });
      response.on("error", () => undefined);
    });
    request.on("error", reject);
    onTestFinished(() => void request.destroy());
  });
  const take = (): { bytes: number; at: number; text: string } => {
    const taken = { bytes, at, text };
    [bytes, at, text] = [0, 0, ""];
    return taken;
  };
  return { take, has: (word) => text.includes(word), begun };
}

test("with 1,000 agents and 200 streams a change costs each client under 1.1 kB and arrives within 250 ms", async () => {
  const board = largeBoard();
  const url = (await startTcp(depsOf(board))) + streamPath;
  const clients = Array.from({ length: 200 }, () => open(url));
  await Promise.all(clients.map(({ begun }) => begun));
  await sleep(300);
  for (const { take } of clients) take();

  const [delays, sizes]: [number[], number[]] = [[], []];
  for (let change = 0; change < 10; change++) {
    const agent = `agent-${String(change * 99).padStart(4, "0")}`;
    const item = anItem(`w${change}`, agent);
    const changedAt = performance.now();
    board.apply({ type: "started", agent, at: Date.now(), item, instanceId: `${agent}-abcdefgh` });
    const cameTo = () => clients.filter(({ has }) => has(`"name":"${agent}"`)).length;
    await expect.poll(cameTo, { timeout: 10_000 }).toBe(clients.length);
    for (const { bytes, at } of clients.map(({ take }) => take())) {
      delays.push(at - changedAt);
      sizes.push(bytes);
    }
  }
  expect(Math.max(...sizes)).toBeLessThan(1_100);
  expect(Math.max(...delays)).toBeLessThan(250);
});

test("clients that stop reading are dropped, and memory stays flat", async () => {
  const deps = testDeps();
  const url = new URL((await startTcp(deps)) + streamPath);
  const deaf = 20;
  for (let i = 0; i < deaf; i++) {
    const socket = connect(Number(url.port), url.hostname).pause();
    socket.on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    const { authorization } = bearer;
    socket.write(
      `GET ${url.pathname} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n\r\n`,
    );
  }
  const connected = async () =>
    (await deps.metrics.text()).includes(`almanac_stream_clients{stream="status"} ${deaf}`);
  await expect.poll(connected).toBe(true);

  const before = usedMegabytes();
  const line = {
    time: "2026-11-21T00:00:00.000Z",
    level: 30,
    agent: "dev",
    instanceId: null,
  } as const;
  const logs = Array.from({ length: 20 }, (_, seq) => ({ ...line, seq, msg: "x".repeat(500) }));
  let most = 0;
  for (let i = 0; i < 4_000; i++) {
    deps.operations.emit({ logs });
    if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    if (i % 200 === 0) most = Math.max(most, usedMegabytes() - before);
  }
  // Some 45 MB were meant for each of them; the system's own buffers take a few of it.
  expect(deps.lines.filter((text) => text.includes("it does not read"))).toHaveLength(deaf);
  expect(most).toBeLessThan(40);
  expect(await deps.metrics.text()).toContain('almanac_stream_clients{stream="status"} 0');
});

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What this process holds once nothing is left that could be freed. */
function usedMegabytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}
