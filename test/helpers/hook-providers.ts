import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { listen } from "./listen.ts";
import { pause } from "./pause.ts";

/** The fields of one webhook, as its provider stores it. */
type Stored = Record<string, unknown> & { id: unknown };

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

type Answer = readonly [status: number, body?: unknown];

/** The APIs of four providers at one address, which refuse what the real ones refuse. */
export async function startProviders() {
  const hooks: Record<"github" | "gitlab" | "linear" | "stripe", Stored[]> = {
    github: [],
    gitlab: [],
    linear: [],
    stripe: [],
  };
  const providers = {
    github: githubApi(hooks.github),
    gitlab: (asked: Asked) => gitlabAnswer(asked, hooks.gitlab),
    linear: (asked: Asked) => linearAnswer(asked, hooks.linear),
    stripe: (asked: Asked) => stripeAnswer(asked, hooks.stripe),
  };
  const server = createServer((request, response) => {
    void (async () => {
      const [, name = "", path = ""] = /^\/(\w+)(.*)$/.exec(request.url ?? "") ?? [];
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const asked = { method: request.method ?? "", path, body, headers: request.headers };
      const [status, value] = providers[name as keyof typeof providers](asked);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(value === undefined ? "" : JSON.stringify(value));
    })();
  });
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${await listen(server)}`, hooks };
}

const githubEvents = ["*", "issues", "pull_request", "push", "issue_comment"];

/** https://docs.github.com/en/rest/repos/webhooks; a ping is signed and sent to the webhook's address. */
function githubApi(hooks: Stored[]) {
  const deliveries: { id: number; event: string; status: string; status_code: number }[] = [];
  const ping = async (hook: Stored) => {
    const { url = "", secret = "" } = hook.config as Record<string, string>;
    const body = Buffer.from(JSON.stringify({ zen: "Keep it simple.", hook_id: hook.id }));
    const headers = signDelivery("github", secret, body, Date.now(), { event: "ping" });
    const answer = await fetch(url, { method: "POST", headers, body }).catch(() => null);
    const [code, status] =
      answer === null
        ? [502, "failed to connect"]
        : [answer.status, answer.ok ? "OK" : "Invalid HTTP Response"];
    deliveries.unshift({ id: deliveries.length + 1, event: "ping", status, status_code: code });
  };
  return ({ method, path, body, headers }: Asked): Answer => {
    if (headers.authorization !== "Bearer ghp_test") return [401, { message: "Bad credentials" }];
    if (headers["user-agent"] === undefined) return [403, { message: "Request forbidden" }];
    const [, rest] = /^\/repos\/acme\/website\/hooks(.*)$/.exec(path) ?? [];
    if (rest === undefined) return [404, { message: "Not Found" }];
    if (method === "GET") return [200, rest.includes("/deliveries") ? deliveries : hooks];
    const hook = hooks.find((one) => rest.startsWith(`/${String(one.id)}`));
    if (!rest.endsWith("/pings")) return githubSave(hooks, hook, JSON.parse(body) as GithubHook);
    if (hook === undefined) return [404, { message: "Not Found" }];
    void pause(100, "the real one sends it after its answer").then(() => ping(hook));
    return [204];
  };
}

type GithubHook = Stored & { readonly events: readonly string[]; readonly name?: string };

function githubSave(hooks: Stored[], hook: Stored | undefined, given: GithubHook): Answer {
  const isValid = given.events.every((event) => githubEvents.includes(event));
  if (!isValid) return [422, { message: "Validation Failed" }];
  if (hook !== undefined) return [200, Object.assign(hook, given)];
  if (given.name !== "web") return [422, { message: "Validation Failed" }];
  if (hooks.length > 0) return [422, { message: "Hook already exists on this repository" }];
  hooks.push({ ...given, id: 7 });
  return [201, hooks[0]];
}

/** https://docs.gitlab.com/api/project_webhooks/; events that a request leaves out keep their default, pushes are on. */
function gitlabAnswer({ method, path, body, headers }: Asked, hooks: Stored[]): Answer {
  if (headers["private-token"] !== "glpat-test") return [401, { message: "401 Unauthorized" }];
  if (!path.startsWith("/projects/acme%2Fwebsite/hooks"))
    return [404, { message: "404 Project Not Found" }];
  if (method === "GET") return [200, hooks.map((hook) => ({ ...hook, token: undefined }))];
  const given = JSON.parse(body) as Stored;
  if (method === "PUT") return [200, Object.assign(hooks[0] ?? {}, given)];
  hooks.push({ push_events: true, alert_status: "executable", ...given, id: 9 });
  return [201, hooks[0]];
}

/** Linear's GraphQL API: an API key without "Bearer", errors with status 200, types in their own spelling. */
function linearAnswer({ body, headers }: Asked, hooks: Stored[]): Answer {
  const failed = (message: string): Answer => [200, { errors: [{ message }] }];
  const data = (value: object): Answer => [200, { data: value }];
  if (headers.authorization !== "lin_api_test") return failed("Authentication required");
  const { query, variables } = JSON.parse(body) as {
    readonly query: string;
    readonly variables: {
      readonly key?: string;
      readonly input?: Readonly<Record<string, unknown>>;
    };
  };
  const { input = {}, key } = variables;
  const types = (input.resourceTypes ?? []) as string[];
  if (types.some((type) => !/^[A-Z]/.test(type))) return failed("Argument Validation Error");
  if (query.includes("teams(")) {
    return data({ teams: { nodes: key === "ENG" ? [{ id: "team-1" }] : [] } });
  }
  if (query.includes("webhookUpdate")) {
    Object.assign(hooks[0] ?? {}, input);
    return data({ webhookUpdate: { success: true } });
  }
  if (!query.includes("webhookCreate")) return data({ webhooks: { nodes: hooks } });
  return linearCreate(hooks, input)
    ? data({ webhookCreate: { success: true, webhook: { id: "hook-1" } } })
    : failed("teamId or allPublicTeams");
}

function linearCreate(hooks: Stored[], input: Readonly<Record<string, unknown>>): boolean {
  if (input.teamId === undefined && input.allPublicTeams !== true) return false;
  hooks.push({ ...input, id: "hook-1", team: input.teamId === undefined ? null : { key: "ENG" } });
  return true;
}

/** https://docs.stripe.com/api/webhook_endpoints: forms, and the secret in the first answer alone. */
function stripeAnswer({ method, path, body, headers }: Asked, hooks: Stored[]): Answer {
  if (headers.authorization !== "Bearer sk_test_1")
    return [401, { error: { message: "Invalid API Key provided" } }];
  if (method === "GET") return [200, { object: "list", data: hooks }];
  const form = new URLSearchParams(body);
  const events = form.getAll("enabled_events[]");
  if (events.length === 0)
    return [400, { error: { message: "Missing required param: enabled_events." } }];
  if (path !== "/webhook_endpoints")
    return [200, Object.assign(hooks[0] ?? {}, { enabled_events: events })];
  hooks.push({ id: "we_1", url: form.get("url"), enabled_events: events, status: "enabled" });
  return [200, { ...hooks[0], secret: `whsec_${randomUUID()}` }];
}
