import { describe, expect, it } from "vitest";
import { allowedHosts, isFor } from "../../src/foundation/contracts/network-allow.ts";
import { policyOf } from "../../src/start/egress.ts";
import { anAgent, anItem } from "../helpers/agents.ts";

type Wiring = Parameters<typeof policyOf>[1];

const started = anAgent("dev", { credentials: ["github_token", "npm_token"] });

/** The policy of a run of agent dev, by what is given. */
function policy(changed: Partial<Wiring> = {}) {
  const request = { instanceId: "dev-1", agent: started, item: anItem("dev") };
  return policyOf("dev-1", {
    runs: { get: () => ({ request }) },
    agent: () => undefined,
    project: () => ({ network: null }),
    bindings: () => Promise.resolve([]),
    credential: () => Promise.resolve({ fields: { token: "t" } }),
    gatewayUrl: () => null,
    ...changed,
  });
}

describe("what a run may reach", () => {
  it("are the hosts of its credentials, its project's and its agent's", async () => {
    const network = { allow: ["*.p.test"], credentials: { npm_token: ["npm.test"] } };
    const edited = anAgent("dev", {
      credentials: started.credentials,
      network: { allow: ["a.test:22"] },
    });
    const given = { project: () => ({ network }), agent: () => edited };
    const { allow, agent } = await policy(given);
    const entries = ["github", "npm", "npm.test", "*.p.test", "a.test:22"];
    expect(allow).toEqual(allowedHosts(entries));
    expect(agent).toBe("dev");
  });

  it("follows the agent's config as it is now", async () => {
    const edited = anAgent("dev", { credentials: [] });
    expect((await policy({ agent: () => edited })).allow).toEqual([]);
  });

  it("is the host of a credential of one's own in place of the public one", async () => {
    const credential = () => Promise.resolve({ fields: { token: "t", host: "git.acme.test" } });
    const { allow } = await policy({ credential });
    const opens = (host: string, port: number) => allow.some((entry) => isFor(entry, host, port));
    expect([opens("git.acme.test", 443), opens("git.acme.test", 22)]).toEqual([true, true]);
    expect(opens("github.com", 443)).toBe(false);
    expect(opens("registry.npmjs.org", 443)).toBe(true);
  });

  it("is less without a credential that is gone", async () => {
    const credential = () => Promise.reject(new Error("gone"));
    expect((await policy({ credential })).allow).toEqual(allowedHosts(["npm"]));
  });

  it.each([
    ["http://localhost:8080", 8080],
    ["http://localhost", 80],
    ["https://localhost", 443],
    [null, null],
  ])("is never the gateway at %s", async (url, port) => {
    expect((await policy({ gatewayUrl: () => url })).ownPort).toBe(port);
  });
});
