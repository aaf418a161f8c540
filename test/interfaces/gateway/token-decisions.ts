import type { Scope } from "../../../src/foundation/contracts/scopes.ts";

/**
 * The decision about each route: the scope that opens it (null: no token), requests that are about the agent `dev` only,
 * and requests that are about `zebra`, about both, or about all.
 */
export interface Decision {
  readonly scope: Scope | "any" | null;
  readonly mine?: readonly string[];
  readonly others?: readonly string[];
  readonly body?: object;
}

const receipt = (n: number): string => `0198c0de-7a11-4000-8000-5ec0ffee000${n}`;
export const [ofBoth, ofDev, ofZebra] = [receipt(0), receipt(1), receipt(2)];
const run = { mine: ["dev-abcdefgh"], others: ["zebra-abcdefgh"] };
/** Requests of a route whose path or query names one agent; `*` is its place. */
const about = (url: string, names: { mine: readonly string[]; others: readonly string[] }) => ({
  mine: names.mine.map((name) => url.replace("*", name)),
  others: names.others.map((name) => url.replace("*", name)),
});
const agent = { mine: ["dev"], others: ["zebra", "gone"] };
/** A list that `?agent=` narrows, which a token for one agent may leave out. */
const listed = (url: string) => {
  const query = `${url}${url.includes("?") ? "&" : "?"}agent=*`;
  return { mine: [url, query.replace("*", "dev")], others: [query.replace("*", "zebra")] };
};
const forAll = (url: string) => ({ others: [url, `${url}?agent=dev`] });
const filtered = (url: string) => ({ mine: [url] });
const keyOnly = (...urls: readonly string[]) => ({ scope: null, others: urls });
const page = (url: string) => keyOnly(url.replace("*", "dev"));

export const decisions: Readonly<Record<string, Decision>> = {
  "GET /control/status": { scope: "read", ...filtered("/control/status") },
  "GET /dashboard/api/status-stream": {
    scope: "read",
    mine: ["/dashboard/api/status-stream?log=%3Fagent%3Ddev"],
    others: [
      "/dashboard/api/status-stream?log=%3Fagent%3Ddev&log=%3Fagent%3Dzebra",
      "/dashboard/api/status-stream?log=%3Fagent%3Dscheduler",
    ],
  },
  "GET /dashboard/api/scheduler": { scope: "read", ...filtered("/dashboard/api/scheduler") },
  "GET /locks/status": { scope: "read", ...filtered("/locks/status") },
  "GET /openapi.json": { scope: "read", ...filtered("/openapi.json") },
  "GET /metrics": { scope: "read", ...forAll("/metrics") },
  "GET /api/stats/triggers": {
    scope: "read",
    mine: [...listed("/api/stats/triggers").mine, "/api/stats/triggers?id=t-dev"],
    others: [
      "/api/stats/triggers?agent=zebra",
      "/api/stats/triggers?agent=dev&agentPart=e",
      "/api/stats/triggers?agentPart=dev",
      "/api/stats/triggers?agent=dev&id=t-zebra",
      "/api/stats/triggers?id=t-none",
    ],
  },
  "GET /api/stats/latest-runs": {
    scope: "read",
    ...about("/api/stats/latest-runs?agents=*", { mine: ["dev"], others: ["zebra", "dev,zebra"] }),
  },
  "GET /api/stats/refused-deliveries": {
    scope: "read",
    ...forAll("/api/stats/refused-deliveries"),
  },
  "GET /api/agents/{name}/why-not": { scope: "read", ...about("/api/agents/*/why-not", agent) },
  "GET /api/stats/triggers/{id}/calls": {
    scope: "read",
    ...about("/api/stats/triggers/*/calls", { mine: ["t-dev"], others: ["t-zebra", "none"] }),
  },
  "GET /api/runs/{instanceId}": { scope: "read", ...about("/api/runs/*", run) },
  "GET /api/runs/{instanceId}/diff": {
    scope: "read",
    mine: ["/api/runs/dev-abcdefgh/diff", "/api/runs/dev-abcdefgh/diff?to=dev-bbbbbbbb"],
    others: ["/api/runs/zebra-abcdefgh/diff", "/api/runs/dev-abcdefgh/diff?to=zebra-abcdefgh"],
  },
  "GET /api/stats/webhooks/{receiptId}": {
    scope: "read",
    ...about("/api/stats/webhooks/*", { mine: [ofDev, ofBoth], others: [ofZebra, receipt(9)] }),
  },
  "POST /api/webhooks/{receiptId}/replay": {
    scope: "trigger",
    ...about("/api/webhooks/*/replay", { mine: [ofDev, ofBoth], others: [ofZebra, receipt(9)] }),
  },
  "POST /api/triggers/{id}/replay": {
    scope: "trigger",
    ...about("/api/triggers/*/replay", { mine: ["t-dev"], others: ["t-zebra", "none"] }),
  },
  "GET /dashboard/api/agents/{name}": { scope: "read", ...about("/dashboard/api/agents/*", agent) },
  "GET /dashboard/api/logs/{name}/stream": {
    scope: "read",
    ...about("/dashboard/api/logs/*/stream", { mine: ["dev"], others: ["zebra", "scheduler"] }),
  },
  "GET /dashboard/api/logs/{name}/download": {
    scope: "read",
    ...about("/dashboard/api/logs/*/download", { mine: ["dev"], others: ["zebra", "scheduler"] }),
  },
  "GET /api/logs/agents/{name}": {
    scope: "read",
    ...about("/api/logs/agents/*", { mine: ["dev"], others: ["zebra", "scheduler"] }),
  },
  "GET /api/logs/stream": {
    scope: "read",
    mine: ["/api/logs/stream?instance=dev-abcdefgh"],
    others: [...forAll("/api/logs/stream").others, "/api/logs/stream?instance=zebra-abcdefgh"],
  },
  "GET /api/search": { scope: "read", ...listed("/api/search?q=x") },
  "GET /api/spend": { scope: "read", ...listed("/api/spend") },
  "POST /api/budgets/{scope}/raise": {
    scope: "control",
    body: { usd: 1 },
    ...about("/api/budgets/*/raise", {
      mine: ["agent:dev", "run:dev-abcdefgh"],
      others: ["project", "project:dev", "agent:zebra", "run:zebra-abcdefgh"],
    }),
  },
  "GET /api/agents/{name}/hosts": { scope: "read", ...about("/api/agents/*/hosts", agent) },
  "POST /api/agents/{name}/allow-host": keyOnly("/api/agents/dev/allow-host"),
  "GET /api/agents/{name}/files": { scope: "read", ...about("/api/agents/*/files", agent) },
  "POST /api/agents/{name}/files": keyOnly("/api/agents/dev/files"),
  "GET /api/alerts": { scope: "read", ...filtered("/api/alerts") },
  "POST /api/alerts/ack": { scope: "control", body: { agent: "dev" }, mine: ["/api/alerts/ack"] },
  "POST /api/alerts/{id}/retry": { scope: "control", ...forAll("/api/alerts/d1/retry") },
  "POST /api/alerts/retry": { scope: "control", ...forAll("/api/alerts/retry") },
  // The target has the name of the agent.
  "POST /api/alerts/targets/{name}/test": {
    scope: "control",
    ...forAll("/api/alerts/targets/dev/test"),
  },
  "GET /api/questions": { scope: "read", ...listed("/api/questions") },
  "GET /api/questions/{id}": {
    scope: "read",
    ...about("/api/questions/*", { mine: ["q-dev", "q-gate-dev"], others: ["q-zebra", "q-none"] }),
  },
  "POST /api/questions/{id}/answer": {
    scope: "answer",
    body: { answer: "yes" },
    ...about("/api/questions/*/answer", {
      mine: ["q-dev"],
      others: ["q-zebra", "q-none", "q-gate-dev", "q-gate-zebra"],
    }),
  },
  "POST /api/runs/{instanceId}/steer": {
    scope: "control",
    body: { text: "x" },
    ...about("/api/runs/*/steer", run),
  },
  "POST /api/runs/{instanceId}/continue": {
    scope: "trigger",
    body: { prompt: "x" },
    ...about("/api/runs/*/continue", run),
  },
  "GET /api/audit": { scope: "read", ...listed("/api/audit") },
  "POST /control/pause": { scope: "control", ...forAll("/control/pause") },
  "POST /control/resume": { scope: "control", ...forAll("/control/resume") },
  "POST /control/kill": { scope: "control", ...forAll("/control/kill") },
  "POST /control/stop": keyOnly("/control/stop"),
  "POST /control/login-link": keyOnly("/control/login-link"),
  ...Object.fromEntries(
    ["enable", "disable", "resume", "pause", "kill"].map((word) => [
      `POST /control/agents/{name}/${word}`,
      { scope: "control" as const, ...about(`/control/agents/*/${word}`, agent) },
    ]),
  ),
  "POST /control/trigger/{name}": { scope: "trigger", ...about("/control/trigger/*", agent) },
  "POST /control/kill/{instanceId}": { scope: "control", ...about("/control/kill/*", run) },
  "GET /api/tokens": keyOnly("/api/tokens"),
  "POST /api/tokens": keyOnly("/api/tokens"),
  "POST /api/tokens/{name}/remove": keyOnly("/api/tokens/dev/remove"),
  // The tools' requests are checked by their own routes.
  "POST /mcp": { scope: "any", ...filtered("/mcp") },
  "POST /dashboard/tokens": keyOnly("/dashboard/tokens"),
  "POST /dashboard/tokens/{name}/remove": keyOnly("/dashboard/tokens/dev/remove"),
  ...Object.fromEntries(
    [
      "/",
      "/dashboard",
      "/dashboard/agents/*",
      "/dashboard/agents/*/logs",
      ...["triggers", "search", "cost", "alerts", "questions", "audit", "tokens"].map(
        (name) => `/dashboard/${name}`,
      ),
      "/dashboard/agents/*/runs/latest",
    ].map((url) => [`GET ${url.replace("*", "{name}")}`, page(url)]),
  ),
  "GET /dashboard/agents/{name}/runs/{instanceId}": page("/dashboard/agents/*/runs/dev-abcdefgh"),
  "GET /dashboard/agents/{name}/runs/{instanceId}/changes": page(
    "/dashboard/agents/*/runs/dev-abcdefgh/changes",
  ),
  "POST /dashboard/questions/{id}/answer": keyOnly("/dashboard/questions/q-dev/answer"),
};
