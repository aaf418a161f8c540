import type { EgressAttempt } from "../../../src/foundation/contracts/network-allow.ts";
import { recordAttempts } from "../../../src/runtime/runs/record-attempts.ts";
import { tempStore } from "../../foundation/store/support.ts";

function setUp() {
  const { hosts } = tempStore();
  const lines: { readonly msg: string; readonly fields: unknown }[] = [];
  const warn = (msg: string, fields: Readonly<Record<string, unknown>> = {}) =>
    void lines.push({ msg, fields });
  const startRun = () => ({ denials: null as Set<string> | null, warn });
  const state = { run: startRun() };
  const record = recordAttempts(
    (id) => (id === "dev-1" ? state.run : undefined),
    hosts,
    (text) => text.replaceAll("hunter2", "[redacted]"),
  );
  const restart = () => (state.run = startRun());
  return { hosts, lines, record, restart };
}

function denied(host: string, change: Partial<EgressAttempt> = {}): EgressAttempt {
  return {
    instanceId: "dev-1",
    agent: "dev",
    host,
    port: 443,
    denied: "not_allowed",
    detail: `${host} is refused. Ask.`,
    bytesOut: 0,
    bytesIn: 0,
    ...change,
  };
}

test("a denied host is logged once with the command that allows it, however often it is requested", async () => {
  const { hosts, lines, record } = setUp();
  for (let n = 0; n < 3; n += 1) record(denied("api.evil.test"));
  record(denied("api.allowed.test", { denied: null, detail: "", bytesOut: 7 }));
  record(denied("db.lan", { port: 5432, denied: "private_address" }));
  record(denied("api.evil.test", { denied: "unreachable" }));
  const [evil, lan, unreachable] = lines;
  expect(lines).toHaveLength(3);
  expect(evil?.msg).toMatch(/^api.evil.test:443 denied: .* al config dev --add network.allow=api/);
  expect(lan?.msg).toMatch(/private network only.*--add 'network.allow=db.lan:5432 private'$/);
  expect(unreachable).toEqual({
    msg: "denied: api.evil.test is refused. Ask.",
    fields: { kind: "network", host: "api.evil.test", port: 443, reason: "unreachable" },
  });
  await hosts.flush();
  const stored = expect.objectContaining({ host: "api.evil.test", connections: 3 }) as object;
  expect(hosts.of("dev-1")).toContainEqual(stored);
});

test("a scheduler that adopts a run does not log the run's denied hosts again", async () => {
  const { hosts, lines, record, restart } = setUp();
  record(denied("api.evil.test"));
  await hosts.flush();
  restart();
  record(denied("api.evil.test"));
  record(denied("other.evil.test"));
  expect(lines).toHaveLength(2);
});

test("a run's first 200 denied hosts are logged, then one line about the others", () => {
  const { lines, record } = setUp();
  for (let n = 0; n < 500; n += 1) record(denied(`h${n}.evil.test`));
  expect(lines).toHaveLength(201);
  expect(lines.at(-1)?.msg).toBe("200 hosts were denied; further ones are not logged");
  record(denied("api.evil.test", { instanceId: "dev-2" }));
  expect(lines).toHaveLength(201);
});

test("a known secret in a host's name is neither logged nor stored", async () => {
  const { hosts, lines, record } = setUp();
  record(denied("hunter2.evil.test"));
  await hosts.flush();
  expect(JSON.stringify([lines, hosts.of("dev-1")])).not.toContain("hunter2");
});
