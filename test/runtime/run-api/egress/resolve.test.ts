import { createResolve } from "../../../../src/runtime/run-api/egress/resolve.ts";
import type { ResolveOptions } from "../../../../src/runtime/run-api/egress/resolve.ts";

const never = new AbortController().signal;
const found = (...addresses: readonly string[]) => Promise.resolve(addresses);
const silent = () => new Promise<never>(() => undefined);
const unknown = () =>
  Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }));

function resolver(options: Partial<ResolveOptions>) {
  const sources = { hostsFile: () => found(), nameServers: unknown, system: unknown };
  const resolve = createResolve({ ...sources, timeoutMs: 60_000, ...options });
  return (host: string, run = "run-1", signal = never) => resolve(host, run, signal);
}

test.each([
  ["203.0.113.9", "without a lookup", "203.0.113.9"],
  ["2001:db8::1", "without a lookup", "2001:db8::1"],
  ["listed.test", "by the hosts file", "203.0.113.1"],
  ["served.test", "by the name servers", "203.0.113.2"],
  ["printer.local", "by the system", "203.0.113.3"],
])("the host name %s is resolved %s to %s", async (name, _source, address) => {
  const resolve = resolver({
    hostsFile: (host) => found(...(host === "listed.test" ? ["203.0.113.1"] : [])),
    nameServers: (host) => (host === "served.test" ? found("203.0.113.2") : unknown()),
    system: () => found("203.0.113.3"),
  });
  expect(await resolve(name)).toEqual([address]);
});

test("a host name is looked up once for concurrent connections of a run", async () => {
  let count = 0;
  const resolve = resolver({ nameServers: () => found(`203.0.113.${(count += 1)}`) });
  const both = await Promise.all([resolve("a.test"), resolve("a.test")]);
  expect(both).toEqual([["203.0.113.1"], ["203.0.113.1"]]);
  expect(await resolve("a.test")).toEqual(["203.0.113.2"]);
});

test.each(["nameServers", "system"] as const)(
  "a host name is resolved for a run while another run waits for 100 unanswered lookups (%s)",
  async (place) => {
    const find: ResolveOptions["nameServers"] = (host) =>
      host.startsWith("slow") ? silent() : found("203.0.113.1");
    const resolve = resolver({ [place]: find });
    const over = new AbortController();
    for (let n = 0; n < 100; n += 1)
      resolve(`slow${n}.test`, "run-1", over.signal).catch(() => undefined);
    expect(await resolve("quick.test", "run-2")).toEqual(["203.0.113.1"]);
    over.abort();
  },
);

test("the lookup of a host name times out if the name servers don't respond", async () => {
  const resolve = resolver({ nameServers: silent, timeoutMs: 50 });
  await expect(resolve("slow.test")).rejects.toThrow("no answer in time");
});

test("the lookups of an ended run are cancelled", async () => {
  const signals: AbortSignal[] = [];
  const resolve = resolver({
    nameServers: (_host, signal) => {
      signals.push(signal);
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error)),
      );
    },
  });
  const ended = new AbortController();
  const slow = Array.from({ length: 40 }, (_, n) =>
    resolve(`slow${n}.test`, "run-1", ended.signal),
  );
  await expect.poll(() => signals.length).toBe(16);
  ended.abort(new Error("the run is over"));
  for (const lookup of slow) await expect(lookup).rejects.toThrow("the run is over");
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});
