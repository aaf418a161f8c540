import type { AgentConfig } from "../../../streams/agent-config.ts";
import { networkWarnings } from "../../../src/runtime/runners/job-network.ts";
import { anAgent } from "../../helpers/agents.ts";

const table = { allow: [] };
const own = (network: string): Partial<AgentConfig> => ({
  local: { memory: null, cpus: null, network, env: {} },
});
const record = (name: string, config: Partial<AgentConfig> = {}) => ({
  config: anAgent(name, config),
});
/** The warnings of a project whose network is closed (`none`) or open; `why` it can't be closed for host users. */
const warnings = (
  network: string,
  records: Parameters<typeof networkWarnings>[0],
  why: string | null = null,
) => networkWarnings(records, { local: { network }, network: null }, () => Promise.resolve(why));

test("a closed network causes no warning, and neither does an invalid agent", async () =>
  expect(await warnings("none", [record("dev"), { config: null }])).toEqual([]));

test("one warning names all agents whose network is open", async () => {
  const records = [record("dev"), record("ops", own("none")), record("web", { network: table })];
  expect(await warnings("bridge", records)).toEqual([
    "the network is open, because of [local].network, for dev, web: runs reach hosts that [network].allow does not list; al doctor has the fix",
  ]);
  expect(await warnings("none", [record("dev"), record("ops", own("lan"))])).toEqual([
    expect.stringContaining("for ops: "),
  ]);
});

test("a warning names the host-user agents whose network can't be closed", async () => {
  const records = [
    record("dev"),
    record("strict", { network: table }),
    record("boxed", { runtime: { type: "container", runAs: "$USER" } }),
    record("other", { runtime: { type: "host-user", runAs: "al-agent" } }),
  ];
  expect(await warnings("none", records, "Operation not permitted")).toEqual([
    expect.stringContaining("can't be closed (Operation not permitted), for dev: "),
  ]);
});

test("networkWarnings does not try to close a network if no agent needs that", async () => {
  const whyNotClosed = vi.fn(() => Promise.resolve(null));
  const open = { local: { network: "bridge" }, network: null };
  await networkWarnings([record("dev")], open, whyNotClosed);
  expect(whyNotClosed).not.toHaveBeenCalled();
});

test("a warning about open networks names twenty agents at most", async () => {
  const records = Array.from({ length: 25 }, (_, n) => record(`agent-${n}`));
  expect((await warnings("bridge", records))[0]).toContain("agent-19 and 5 more: ");
});
