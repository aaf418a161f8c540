import { createResolve } from "../../../../src/runtime/run-api/egress/resolve.ts";
import type { ResolveOptions } from "../../../../src/runtime/run-api/egress/resolve.ts";

const never = new AbortController().signal;
const found = (...addresses: readonly string[]) => Promise.resolve(addresses);
const silent = () => new Promise<never>(() => undefined);
const unknown = () =>
  Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }));

function resolver(options: Partial<ResolveOptions>) {
  const none: ResolveOptions["hostsFile"] = () => found();
  return createResolve({
    hostsFile: none,
    nameServers: unknown,
    system: unknown,
    timeoutMs: 5_000,
    ...options,
  });
}

test("an IP address is not looked up", async () => {
  const resolve = resolver({});
  expect(await resolve("203.0.113.1", "run-1", never)).toEqual(["203.0.113.1"]);
  expect(await resolve("2001:db8::1", "run-1", never)).toEqual(["2001:db8::1"]);
});

test("a name is looked up in the hosts file, then by name servers, then by the system", async () => {
  const resolve = resolver({
    hostsFile: (host) => found(...(host === "listed.test" ? ["203.0.113.1"] : [])),
    nameServers: (host) => (host === "served.test" ? found("203.0.113.2") : unknown()),
    system: () => found("203.0.113.3"),
  });
  const names = ["listed.test", "served.test", "printer.local", "db"];
  const addresses = await Promise.all(names.map((name) => resolve(name, "run-1", never)));
  expect(addresses.flat()).toEqual([1, 2, 3, 3].map((n) => `203.0.113.${n}`));
});

test("a name is looked up once for all connections of a run that ask for it", async () => {
  let count = 0;
  const resolve = resolver({ nameServers: () => found(`203.0.113.${(count += 1)}`) });
  const both = await Promise.all([1, 2].map(() => resolve("a.test", "run-1", never)));
  expect(both).toEqual([["203.0.113.1"], ["203.0.113.1"]]);
  expect(await resolve("a.test", "run-1", never)).toEqual(["203.0.113.2"]);
});

test.each(["nameServers", "system"] as const)(
  "a run gets its answer while another one waits for 100 silent names of %s",
  async (place) => {
    const find: ResolveOptions["nameServers"] = (host) =>
      host.startsWith("slow") ? silent() : found("203.0.113.1");
    const resolve = resolver({ [place]: find });
    const over = new AbortController();
    const slow = Array.from({ length: 100 }, (_, n) =>
      resolve(`slow${n}.test`, "run-1", over.signal),
    );
    for (const lookup of slow) lookup.catch(() => undefined);
    const began = performance.now();
    expect(await resolve("quick.test", "run-2", never)).toEqual(["203.0.113.1"]);
    expect(performance.now() - began).toBeLessThan(10_000);
    over.abort();
  },
);

test("a name with silent servers is answered in time", async () => {
  const resolve = resolver({ nameServers: silent, timeoutMs: 50 });
  await expect(resolve("slow.test", "run-1", never)).rejects.toThrow("no answer in time");
});

test("the lookups of an ended run are cancelled, and free their places", async () => {
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
