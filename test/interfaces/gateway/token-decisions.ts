import type { Scope } from "../../../src/foundation/contracts/scopes.ts";

/**
 * The decision about each route: the scope that opens it (null: no token), requests that are about the agent `dev` only,
 * and requests that are about `zebra`, about both, or about all.
 */
export interface Decision extends Urls {
  readonly scope: Scope | "any" | null;
  readonly body?: object;
}

interface Urls {
  readonly mine?: readonly string[];
  readonly others?: readonly string[];
}

const receipt = (n: number): string => `0198c0de-7a11-4000-8000-5ec0ffee000${n}`;
export const [ofBoth, ofDev, ofZebra] = [receipt(0), receipt(1), receipt(2)];

// Values of the parameter in the route's path, queries that follow the path, or whole URLs.
const agent = { mine: ["dev"], others: ["zebra", "gone"] };
const log = { mine: ["dev"], others: ["zebra", "scheduler"] };
const run = { mine: ["dev-abcdefgh"], others: ["zebra-abcdefgh"] };
const trigger = { mine: ["t-dev"], others: ["t-zebra", "none"] };
const delivery = { mine: [ofDev, ofBoth], others: [ofZebra, receipt(9)] };
/** A list that `?agent=` narrows, which a token for one agent may leave out. */
const listed = (query = "?") => ({
  mine: [query, `${query}&agent=dev`],
  others: [`${query}&agent=zebra`],
});
const filtered = { mine: [""] };
const forAll = { others: ["", "?agent=dev"] };

const read = (urls: Urls): Decision => ({ scope: "read", ...urls });
const control = (urls: Urls, body?: object): Decision => ({
  scope: "control",
  ...urls,
  ...(body && { body }),
});
const keyOnly = (others = ["dev"]): Decision => ({ scope: null, others });

const written: Readonly<Record<string, Decision>> = {
  "GET /control/status": read(filtered),
  "GET /dashboard/api/status-stream": read({
    mine: ["?log=%3Fagent%3Ddev"],
    others: ["?log=%3Fagent%3Ddev&log=%3Fagent%3Dzebra", "?log=%3Fagent%3Dscheduler"],
  }),
  "GET /dashboard/api/scheduler": read(filtered),
  "GET /locks/status": read(filtered),
  "GET /openapi.json": read(filtered),
  "GET /metrics": read(forAll),
  "GET /api/stats/triggers": read({
    mine: ["", "?agent=dev", "?id=t-dev"],
    others: [
      "?agent=zebra",
      "?agent=dev&agentPart=e",
      "?agentPart=dev",
      "?agent=dev&id=t-zebra",
      "?id=t-none",
    ],
  }),
  "GET /api/stats/latest-runs": read({
    mine: ["?agents=dev"],
    others: ["?agents=zebra", "?agents=dev,zebra"],
  }),
  "GET /api/stats/refused-deliveries": read(forAll),
  "GET /api/agents/{name}/why-not": read(agent),
  "GET /api/stats/triggers/{id}/calls": read(trigger),
  "GET /api/runs/{instanceId}": read(run),
  "GET /api/runs/{instanceId}/diff": read({
    mine: ["dev-abcdefgh", "/api/runs/dev-abcdefgh/diff?to=dev-bbbbbbbb"],
    others: ["zebra-abcdefgh", "/api/runs/dev-abcdefgh/diff?to=zebra-abcdefgh"],
  }),
  "GET /api/stats/webhooks/{receiptId}": read(delivery),
  "POST /api/webhooks/{receiptId}/replay": { scope: "trigger", ...delivery },
  "POST /api/triggers/{id}/replay": { scope: "trigger", ...trigger },
  "GET /dashboard/api/agents/{name}": read(agent),
  "GET /dashboard/api/logs/{name}/stream": read(log),
  "GET /dashboard/api/logs/{name}/download": read(log),
  "GET /api/logs/agents/{name}": read(log),
  "GET /api/logs/stream": read({
    mine: ["?instance=dev-abcdefgh"],
    others: ["", "?agent=dev", "?instance=zebra-abcdefgh"],
  }),
  "GET /api/search": read(listed("?q=x")),
  "GET /api/spend": read(listed()),
  "POST /api/budgets/{scope}/raise": control(
    {
      mine: ["agent:dev", "run:dev-abcdefgh"],
      others: ["project", "project:dev", "agent:zebra", "run:zebra-abcdefgh"],
    },
    { usd: 1 },
  ),
  "GET /api/agents/{name}/hosts": read(agent),
  "POST /api/agents/{name}/allow-host": keyOnly(),
  "GET /api/agents/{name}/files": read(agent),
  "POST /api/agents/{name}/files": keyOnly(),
  "GET /api/alerts": read(filtered),
  "POST /api/alerts/ack": control(filtered, { agent: "dev" }),
  "POST /api/alerts/{id}/retry": control({ others: ["d1", "/api/alerts/d1/retry?agent=dev"] }),
  "POST /api/alerts/retry": control(forAll),
  // The target has the name of the agent.
  "POST /api/alerts/targets/{name}/test": control({ others: ["dev"] }),
  "GET /api/questions": read(listed()),
  "GET /api/questions/{id}": read({ mine: ["q-dev", "q-gate-dev"], others: ["q-zebra", "q-none"] }),
  "POST /api/questions/{id}/answer": {
    scope: "answer",
    body: { answer: "yes" },
    mine: ["q-dev"],
    others: ["q-zebra", "q-none", "q-gate-dev", "q-gate-zebra"],
  },
  "POST /api/runs/{instanceId}/steer": control(run, { text: "x" }),
  "POST /api/runs/{instanceId}/continue": { scope: "trigger", body: { prompt: "x" }, ...run },
  "GET /api/audit": read(listed()),
  "POST /control/pause": control(forAll),
  "POST /control/resume": control(forAll),
  "POST /control/kill": control(forAll),
  "POST /control/stop": keyOnly(),
  "POST /control/login-link": keyOnly(),
  "POST /control/agents/{name}/enable": control(agent),
  "POST /control/agents/{name}/disable": control(agent),
  "POST /control/agents/{name}/resume": control(agent),
  "POST /control/agents/{name}/pause": control(agent),
  "POST /control/agents/{name}/kill": control(agent),
  "POST /control/trigger/{name}": { scope: "trigger", ...agent },
  "POST /control/kill/{instanceId}": control(run),
  "GET /api/tokens": keyOnly(),
  "POST /api/tokens": keyOnly(),
  "POST /api/tokens/{name}/remove": keyOnly(),
  // The tools' requests are checked by their own routes.
  "POST /mcp": { scope: "any", ...filtered },
  "POST /dashboard/tokens": keyOnly(),
  "POST /dashboard/tokens/{name}/remove": keyOnly(),
  "GET /": keyOnly(),
  "GET /dashboard": keyOnly(),
  "GET /dashboard/triggers": keyOnly(),
  "GET /dashboard/search": keyOnly(),
  "GET /dashboard/cost": keyOnly(),
  "GET /dashboard/alerts": keyOnly(),
  "GET /dashboard/questions": keyOnly(),
  "GET /dashboard/audit": keyOnly(),
  "GET /dashboard/tokens": keyOnly(),
  "GET /dashboard/agents/{name}": keyOnly(),
  "GET /dashboard/agents/{name}/logs": keyOnly(),
  "GET /dashboard/agents/{name}/runs/latest": keyOnly(),
  "GET /dashboard/agents/{name}/runs/{instanceId}": keyOnly(),
  "GET /dashboard/agents/{name}/runs/{instanceId}/changes": keyOnly(),
  "POST /dashboard/questions/{id}/answer": keyOnly(["q-dev"]),
};

function urlOf(route: string, value: string): string {
  const [, path = ""] = route.split(" ");
  if (value.startsWith("/")) return value;
  const isWhole = value === "" || value.startsWith("?");
  if (isWhole) return path + value;
  return path.replace(/\{\w+\}/, value).replace("{instanceId}", "dev-abcdefgh");
}

export const decisions: Readonly<Record<string, Decision>> = Object.fromEntries(
  Object.entries(written).map(([route, { mine = [], others = [], ...decision }]) => {
    const urls = (values: readonly string[]) => values.map((value) => urlOf(route, value));
    return [route, { ...decision, mine: urls(mine), others: urls(others) }];
  }),
);
