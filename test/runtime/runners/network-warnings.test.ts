import type { AgentConfig } from "../../../streams/agent-config.ts";
import { networkWarnings } from "../../../src/runtime/runners/job-network.ts";
import { anAgent } from "../../helpers/agents.ts";

const closed = { local: { network: "none" }, network: null };
const open = { local: { network: "bridge" }, network: null };
const table = { allow: [] };
const own = (network: string): Partial<AgentConfig> => ({
  local: { memory: null, cpus: null, network, env: {} },
});
const record = (name: string, config: Partial<AgentConfig> = {}) => ({
  config: anAgent(name, config),
});
const canClose = () => Promise.resolve(null);

test("a closed network causes no warning, and neither does an invalid agent", async () =>
  expect(await networkWarnings([record("dev"), { config: null }], closed, canClose)).toEqual([]));

test("one line names the agents whose network is open, by the project's setting or their own", async () => {
  const records = [record("dev"), record("ops", own("none")), record("web", { network: table })];
  expect(await networkWarnings(records, open, canClose)).toEqual([
    "the network is open, by [local].network, for dev, web: runs reach hosts that [network].allow does not list; al doctor has the fix",
  ]);
  const [line] = await networkWarnings(
    [record("dev"), record("ops", own("lan"))],
    closed,
    canClose,
  );
  expect(line).toContain("for ops: ");
});

test("a line names host users that can't be closed; those with [network] do not start, and containers are closed", async () => {
  const why = () => Promise.resolve("Operation not permitted");
  const records = [
    record("dev"),
    record("strict", { network: table }),
    record("boxed", { runtime: { type: "container", runAs: "$USER" } }),
    record("other", { runtime: { type: "host-user", runAs: "al-agent" } }),
  ];
  const lines = await networkWarnings(records, closed, why);
  expect(lines).toEqual([
    expect.stringContaining("can't be closed (Operation not permitted), for dev: ") as string,
  ]);
});

test("a closed network is not tried if no agent needs it", async () => {
  const whyNotClosed = vi.fn(canClose);
  await networkWarnings([record("dev")], open, whyNotClosed);
  expect(whyNotClosed).not.toHaveBeenCalled();
});

test("a line names twenty agents at most", async () => {
  const records = Array.from({ length: 25 }, (_, n) => record(`agent-${n}`));
  const [line] = await networkWarnings(records, open, canClose);
  expect(line).toContain("agent-19 and 5 more: ");
});
