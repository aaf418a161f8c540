import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { figureOf } from "../figure.ts";
import type { BenchOptions, Figure, Measure } from "../figure.ts";
import { repeated } from "../repeated.ts";

type Child = ChildProcessByStdio<Writable, Readable, null>;

interface Wanted {
  readonly times: number;
  readonly events: number;
  readonly pauseMs: number;
}

/** What a client saw of one stream. */
interface Seen {
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly bytes: number;
}

/** Streams through the gateway, and the same ones directly from the provider. Each is a process of its own. */
export const modelGateway: Measure = {
  name: "model-gateway",
  run: async (options) => {
    await using children = new AsyncDisposableStack();
    const provider = await started(children, "stream-provider.ts");
    const direct = `http://127.0.0.1:${provider.port}/v1/chat/completions`;
    const gateway = await started(
      children,
      "gateway-server.ts",
      `http://127.0.0.1:${provider.port}`,
    );
    const path = `/model/bench/127.0.0.1:${provider.port}/v1/chat/completions`;
    const through = `http://127.0.0.1:${gateway.port}${path}`;
    // Code that runs for the first time is compiled.
    await repeated(200, () => ask(direct, small));
    await repeated(200, () => ask(through, small));
    return [
      await latency(direct, through, options),
      await throughput("20 times a model's speed", paced, { direct, through }, options),
      await throughput("the machine's speed", fast, { direct, through }, options),
      await memory(gateway.child, through, options),
    ];
  },
};

const small: Wanted = { times: 1, events: 1, pauseMs: 0 };
/** About 5,000 events a second, far more than any model. */
const paced: Wanted = { times: 500, events: 10, pauseMs: 2 };
const fast: Wanted = { times: 2_000, events: 100, pauseMs: 0 };
const long: Wanted = { times: 200, events: 5, pauseMs: 10 };

/** In turns, so that both meet the same minutes of the machine. */
async function latency(direct: string, through: string, options: BenchOptions): Promise<Figure> {
  const pairs = await repeated(options.quick ? 20 : 500 * options.repeats, async () => ({
    floor: (await ask(direct, small)).firstByteMs,
    value: (await ask(through, small)).firstByteMs,
  }));
  const added = pairs.map(({ value, floor }) => value - floor);
  return figureOf("model call: latency added to the first byte", "ms", added, {
    target: { median: 3 },
    floor: pairs.map(({ floor }) => floor),
  });
}

async function throughput(
  speed: string,
  wanted: Wanted,
  { direct, through }: { readonly direct: string; readonly through: string },
  options: BenchOptions,
): Promise<Figure> {
  const perSecond = ({ bytes, totalMs }: Seen) => bytes / (totalMs / 1_000) / 1e6;
  const pairs = await repeated(options.quick ? 1 : 3 * options.repeats, async () => ({
    floor: perSecond(await ask(direct, wanted)),
    value: perSecond(await ask(through, wanted)),
  }));
  const values = pairs.map(({ value }) => value);
  return figureOf(`model call: MB of one stream, at ${speed}`, "/s", values, {
    // What takes all of the processor has to share it with the gateway.
    target: wanted.pauseMs > 0 ? { ofFloor: 0.9 } : null,
    floor: pairs.map(({ floor }) => floor),
  });
}

/** What 100 streams at once cost the gateway. */
async function memory(child: Child, through: string, options: BenchOptions): Promise<Figure> {
  const before = await residentMB(child);
  const count = options.quick ? 10 : 100;
  const streams = Array.from({ length: count }, () => ask(through, long));
  const samples: number[] = [];
  const over = new AbortController();
  const all = Promise.all(streams).finally(() => over.abort());
  while (!over.signal.aborted) {
    samples.push((await residentMB(child)) - before);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await all;
  return figureOf(`model calls: memory of ${count} streams at once`, "MB", samples, {
    target: { most: 50 },
  });
}

async function residentMB(child: Child): Promise<number> {
  child.stdin.write("\n");
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return Number(said.toString()) / 1e6;
}

const agent = new Agent({ keepAlive: true });

async function ask(url: string, wanted: Wanted): Promise<Seen> {
  const body = JSON.stringify({ ...wanted, model: "bench", stream: true, messages: [] });
  const began = performance.now();
  const request = httpRequest(url, { method: "POST", agent });
  request.setNoDelay(true);
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode ?? 0}`);
  let [bytes, firstByteMs] = [0, 0];
  response.on("data", (chunk: Buffer) => {
    if (bytes === 0) firstByteMs = performance.now() - began;
    bytes += chunk.length;
  });
  await once(response, "end");
  return { firstByteMs, totalMs: performance.now() - began, bytes };
}

async function started(children: AsyncDisposableStack, program: string, ...args: string[]) {
  const path = join(import.meta.dirname, "..", program);
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  children.defer(async () => {
    const exited = once(child, "exit");
    child.kill();
    await exited;
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return { child, port: Number(said.toString()) };
}
