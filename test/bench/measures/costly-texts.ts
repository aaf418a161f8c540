import { mkdir, writeFile } from "node:fs/promises";
import { Agent, request, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { logFileOf, logsDir } from "../../../src/foundation/logs/log-files.ts";
import { objectOfKeys } from "../../faults/load/hostile-runs/attack.ts";
import { pause } from "../../helpers/pause.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf, type Figure, type Measure } from "../figure.ts";
import { askHealth } from "../health.ts";
import { repeated } from "../repeated.ts";
import { residentMb, withScheduler } from "../with-scheduler.ts";

const agent = agentName(0);

/** How long others wait, and how much memory is held, while texts are read and parsed whose form costs the most time. */
export const costlyTexts: Measure = {
  name: "costly-texts",
  run: async ({ quick }) => {
    const project = await benchProject({ config: () => "" });
    await writeLog(project.dir);
    return withScheduler(Promise.resolve(project), (scheduler) => measured(scheduler, quick));
  },
};

/** A page of lines of 8 kB that look like the beginning of a run's id again and again. */
async function writeLog(projectDir: string): Promise<void> {
  const [dir, time] = [logsDir(projectDir), Date.now()];
  const run = { agent, instanceId: `${agent}-aaaaaaaa`, kind: "run" };
  const line = { level: 30, time, ...run, msg: "-aaaaaaa".repeat(1_000) };
  await mkdir(dir, { recursive: true });
  const file = join(dir, logFileOf(agent, time).name);
  await writeFile(file, `${JSON.stringify(line)}\n`.repeat(300));
}

async function measured({ url, apiKey, pid }: TestScheduler, quick: boolean) {
  const limits = { name: "reader", scopes: ["read"], agents: [agent], days: 1 };
  const body = JSON.stringify(limits);
  const made = await send(url, "/api/tokens", 201, { token: apiKey, body });
  const { token } = JSON.parse(made) as { readonly token: string };
  const count = quick ? 10 : 100;
  const read = () =>
    repeated(count / 10, () => send(url, `/api/logs/agents/${agent}?limit=300`, 200, { token }));
  const deliver = (keys: number, status: number) => {
    // Made beforehand, as the same process measures.
    const bodies = Array.from({ length: count }, (_none, n) => objectOfKeys(keys, `k${n}_`));
    const path = "/webhooks/github/open-github";
    return () => Promise.all(bodies.map((body) => send(url, path, status, { body })));
  };
  const loads = {
    [`${count / 10} pages of costly log lines for a limited token`]: read,
    [`${count} deliveries with 49000 keys each`]: deliver(49_000, 413),
    [`${count} deliveries with 19900 keys each`]: deliver(19_900, 200),
  };
  const figures: Figure[] = [];
  for (const [name, load] of Object.entries(loads)) {
    const floor = await askHealth(url, () => pause(2_000, "nothing happens"));
    const latencies = await askHealth(url, load);
    const memory = [await residentMb(pid)];
    figures.push(
      figureOf(`${name}: GET /health`, "ms", latencies, { floor, target: { p99: 250 } }),
      figureOf(`${name}: memory`, "MB", memory, { target: { most: 400 } }),
    );
  }
  return figures;
}

/** More bodies at once are refused for the memory they take. */
const connections = new Agent({ maxSockets: 20 });

/** Resolves with the answer's text; rejects unless it has this status. */
async function send(
  url: string,
  path: string,
  status: number,
  { token, body }: { readonly token?: string; readonly body?: string },
): Promise<string> {
  const headers = {
    "content-type": "application/json",
    "x-github-event": "push",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const method = body === undefined ? "GET" : "POST";
  const address = new URL(path, url.replace("localhost", "127.0.0.1"));
  const sent = request(address, { method, headers, agent: connections });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode === status) return answer;
  throw new Error(`${path}: ${response.statusCode ?? 0} ${answer.slice(0, 300)}`);
}
