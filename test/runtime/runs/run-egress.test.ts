import { allowedHosts, isFor } from "../../../src/foundation/contracts/network-allow.ts";
import { createRunEgress } from "../../../src/runtime/runs/run-egress.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { schedulerContext } from "../../helpers/scheduler-context.ts";
import { createBrokering } from "../../../src/runtime/run-api/egress/broker/brokering.ts";
import type { ProjectConfig } from "../../../src/foundation/config/project-config.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";

const noTokens = () => Promise.reject(new Error("no app"));

interface Given {
  readonly network?: ProjectConfig["network"];
  /** The agent's config now; undefined for a removed agent. */
  readonly agent?: AgentConfig;
  /** Null if the credentials were deleted. */
  readonly fields?: Readonly<Record<string, string>> | null;
  readonly gatewayUrl?: string | null;
}

const started = anAgent("dev", { credentials: ["github_token", "npm_token"] });

/** The policy of a run of agent dev. */
function policy({ network = null, agent, fields = { token: "t" }, gatewayUrl = null }: Given = {}) {
  const request = { instanceId: "dev-1", agent: started, item: anItem("dev") };
  const context = schedulerContext({
    project: { network },
    credential: (type) =>
      fields === null
        ? Promise.reject(new Error("gone"))
        : Promise.resolve({ type, instance: "default", fields }),
  });
  if (agent !== undefined) {
    const set = { type: "agent-set", agent: "dev", at: 0, config: agent } as const;
    context.status.apply({ ...set, warnings: [], summary: "" });
  }
  const runs = { get: () => ({ request }) };
  const brokering = createBrokering(context, () => Promise.resolve("forbidden"), noTokens);
  const door = {
    onAttempt: () => undefined,
    approve: () => Promise.resolve(null),
    isHeld: () => false,
  };
  return createRunEgress(context, runs, brokering, () => gatewayUrl, door).policy("dev-1");
}

test("the hosts that a run may reach are those of its credentials, of the project and of the agent", async () => {
  const network = { allow: ["*.p.test"], credentials: { npm_token: ["npm.test"] } };
  const edited = anAgent("dev", {
    credentials: started.credentials,
    network: { allow: ["a.test:22"] },
  });
  const { allow, agent } = await policy({ network, agent: edited });
  const entries = ["github", "npm", "npm.test", "*.p.test", "a.test:22"];
  expect(allow).toEqual(allowedHosts(entries));
  expect(agent).toBe("dev");
});

test("the hosts that a run may reach include a self-hosted GitHub in place of github.com", async () => {
  const { allow } = await policy({ fields: { token: "t", host: "git.acme.test" } });
  const opens = (host: string, port: number) => allow.some((entry) => isFor(entry, host, port));
  expect([opens("git.acme.test", 443), opens("git.acme.test", 22)]).toEqual([true, true]);
  expect(opens("github.com", 443)).toBe(false);
  expect(opens("registry.npmjs.org", 443)).toBe(true);
});

test("the hosts that a run may reach shrink when a credential is deleted", async () =>
  expect((await policy({ fields: null })).allow).toEqual(allowedHosts(["npm"])));

test.each([
  ["http://localhost:8080", 8080],
  ["http://localhost", 80],
  ["https://localhost", 443],
])("the network policy of a run contains the port of a gateway at %s", async (gatewayUrl, port) =>
  expect((await policy({ gatewayUrl })).ownPort).toBe(port),
);
