import { generateKeyPairSync, randomBytes, verify } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { endServer, listen } from "./listen.ts";

const levels = ["read", "write", "admin"];

type Permissions = Readonly<Record<string, string>>;

/** An account that has installed the app on some of its repositories. */
interface Installation {
  readonly id: number;
  readonly account: string;
  readonly repos: readonly string[];
  readonly permissions: Permissions;
}

interface Minted {
  readonly installation: number;
  readonly repositories: readonly string[] | undefined;
  readonly permissions: Permissions | undefined;
  readonly until: number;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

type Answer = readonly [status: number, body?: unknown, location?: string];

const refusal = (status: number, message: string): Answer => [status, { message }];

/** A new private key as GitHub gives it: PKCS #1 in PEM. */
export function newAppKey() {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { publicKey, pem: privateKey.export({ type: "pkcs1", format: "pem" }) as string };
}

const granted = { metadata: "read", contents: "write", issues: "write", pull_requests: "read" };
const hourMs = 3_600_000;

/**
 * GitHub for one app, by its published pages: authenticating as an app, REST "apps", "installations" and "app webhooks",
 * and the manifest flow. It refuses what GitHub refuses, in GitHub's words.
 */
export async function startGithub() {
  const { publicKey, pem } = newAppKey();
  const github = {
    id: "4711",
    publicKey,
    pem,
    now: () => Date.now(),
    installations: [
      { id: 1, account: "acme", repos: ["website", "api"], permissions: granted },
      { id: 2, account: "umbrella", repos: ["secrets"], permissions: { metadata: "read" } },
    ] as Installation[],
    /** How many requests find a new token unknown. */
    late: 0,
    /** Tokens that are valid but for their hour. */
    valid: [] as string[],
    minted: new Map<string, Minted>(),
    /** `POST /path` of each request. */
    asked: [] as string[],
    /** The start of each token. */
    prefix: "ghs_4711_",
    hook: { url: "", secret: "" },
    manifests: [] as { code: string; manifest: Manifest; path: string }[],
    deliveries: [] as { id: number; event: string; status: string; status_code: number }[],
  };
  const server = createServer((request, response) => void serve(github, request, response));
  const url = `http://127.0.0.1:${await listen(server)}`;
  return Object.assign(github, { url, stop: () => endServer(server) });
}

type Github = Omit<Awaited<ReturnType<typeof startGithub>>, "url" | "stop">;

async function serve(github: Github, request: IncomingMessage, response: ServerResponse) {
  const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://localhost");
  const { method = "GET", headers } = request;
  let body = "";
  for await (const chunk of request) body += String(chunk);
  const path = pathname.replace(/^\/api\/v3/, "");
  github.asked.push(`${method} ${path}`);
  const [status, value, location] = await answer(github, { method, path, query, body, headers });
  response.writeHead(status, {
    "content-type": "application/json",
    ...(location !== undefined && { location }),
  });
  response.end(value === undefined ? "" : JSON.stringify(value));
}

async function answer(github: Github, asked: Asked): Promise<Answer> {
  const { method, path, headers, body } = asked;
  if (path.endsWith("/settings/apps/new")) return submitted(github, asked);
  if (headers["user-agent"] === undefined) return refusal(403, "Request forbidden");
  const [, code] = /^\/app-manifests\/(\w+)\/conversions$/.exec(path) ?? [];
  if (code !== undefined) return converted(github, code);
  if (path === "/users/octoapp%5Bbot%5D") return [200, { id: 99, login: "octoapp[bot]" }];
  const login = headers.authorization ?? "";
  if (path.startsWith("/installation/")) return asInstallation(github, path, login);
  return jwtProblem(github, login) ?? asApp(github, method, path, body);
}

/** https://docs.github.com/en/rest/apps/installations */
function asInstallation(github: Github, path: string, login: string): Answer {
  const index = github.valid.indexOf(login.replace("Bearer ", ""));
  if (index === -1 || github.late-- > 0) return refusal(401, "Bad credentials");
  if (path === "/installation/repositories") return [200, { repositories: [] }];
  github.valid.splice(index, 1);
  return [204];
}

/** https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app */
function jwtProblem({ id, publicKey, now }: Github, authorization: string): Answer | null {
  const [, head = "", claims = "", signature = ""] =
    /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization) ?? [];
  const undecoded = refusal(401, "A JSON web token could not be decoded");
  if (head === "" || partOf(head).alg !== "RS256") return undecoded;
  const { iss, iat, exp } = partOf(claims);
  if (String(iss) !== id) return refusal(404, "Integration not found");
  const signed = Buffer.from(`${head}.${claims}`);
  if (!verify("sha256", signed, publicKey, Buffer.from(signature, "base64url"))) return undecoded;
  return timeProblem(now() / 1000, iat, exp);
}

function timeProblem(seconds: number, iat: unknown, exp: unknown): Answer | null {
  if (typeof iat !== "number" || iat > seconds)
    return refusal(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  if (typeof exp !== "number" || exp <= seconds)
    return refusal(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  return exp > seconds + 600
    ? refusal(401, "'Expiration time' claim ('exp') is too far in the future")
    : null;
}

function partOf(text: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>;
}

async function asApp(github: Github, method: string, path: string, body: string): Promise<Answer> {
  if (path.startsWith("/app/hook/")) return hookAnswer(github, `${method} ${path}`, body);
  const missing = refusal(404, "Not Found");
  if (path === "/app") return [200, { id: Number(github.id), permissions: granted }];
  const [, owner, repo = ""] = /^\/repos\/([^/]+)\/([^/]+)\/installation$/.exec(path) ?? [];
  const at = github.installations.find(
    ({ account, repos }) => account === owner && repos.includes(repo),
  );
  if (owner !== undefined) return at === undefined ? missing : [200, at];
  const [, id] = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path) ?? [];
  const installation = github.installations.find((one) => String(one.id) === id);
  return installation === undefined || method !== "POST"
    ? missing
    : mint(github, installation, body);
}

/** https://docs.github.com/en/rest/apps/webhooks */
async function hookAnswer(github: Github, asked: string, body: string): Promise<Answer> {
  if (asked === "GET /app/hook/deliveries") return [200, github.deliveries];
  if (asked === "PATCH /app/hook/config") {
    Object.assign(github.hook, JSON.parse(body));
    return [200, github.hook];
  }
  if (!/^POST \/app\/hook\/deliveries\/\d+\/attempts$/.test(asked))
    return refusal(404, "Not Found");
  await ping(github);
  return [202, {}];
}

/** https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app */
function mint(github: Github, { id, repos, permissions: own }: Installation, body: string): Answer {
  const { repositories, permissions } = JSON.parse(body) as Partial<Minted>;
  if (repositories?.some((name) => !repos.includes(name)))
    return refusal(
      422,
      "There is at least one repository that does not exist or is not accessible to the parent installation.",
    );
  const isGranted = Object.entries(permissions ?? {}).every(
    ([name, level]) => levels.indexOf(own[name] ?? "") >= levels.indexOf(level),
  );
  if (!isGranted)
    return refusal(422, "The permissions requested are not granted to this installation.");
  // Longer than 40 characters, as those of GitHub's stateless format.
  const token = `${github.prefix}${randomBytes(90).toString("base64url")}`;
  const until = github.now() + hourMs;
  github.valid.push(token);
  github.minted.set(token, { installation: id, repositories, permissions, until });
  return [201, { token, expires_at: new Date(until).toISOString(), permissions }];
}

/** https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest */
interface Manifest {
  readonly name?: string;
  readonly url?: string;
  readonly redirect_url: string;
  readonly hook_attributes?: { readonly url?: string };
  readonly default_events?: readonly string[];
  readonly default_permissions?: Permissions;
}

async function submitted(github: Github, { path, query, body }: Asked): Promise<Answer> {
  const manifest = JSON.parse(new URLSearchParams(body).get("manifest") ?? "{}") as Manifest;
  const { url, hook_attributes: hook, name = "" } = manifest;
  if (url === undefined || hook?.url === undefined || name.length > 34)
    return refusal(422, "Invalid GitHub App configuration");
  const code = randomBytes(20).toString("hex");
  github.manifests.push({ code, manifest, path });
  github.hook = { url: hook.url, secret: randomBytes(20).toString("hex") };
  await ping(github);
  const back = new URL(manifest.redirect_url);
  back.searchParams.set("code", code);
  back.searchParams.set("state", query.get("state") ?? "");
  return [302, undefined, back.href];
}

/** A code works once. */
function converted(github: Github, code: string): Answer {
  const index = github.manifests.findIndex((one) => one.code === code);
  if (index === -1) return refusal(404, "Not Found");
  github.manifests.splice(index, 1, { ...github.manifests[index], code: "" } as never);
  const { id, pem, hook } = github;
  const html = "https://github.com/apps/octoapp";
  return [
    201,
    { id: Number(id), slug: "octoapp", html_url: html, pem, webhook_secret: hook.secret },
  ];
}

async function ping({ hook, deliveries, id }: Github): Promise<void> {
  const body = Buffer.from(JSON.stringify({ zen: "Keep it simple.", hook: { app_id: id } }));
  const headers = signDelivery("github", hook.secret, body, Date.now(), { event: "ping" });
  const sent = await fetch(hook.url, { method: "POST", headers, body }).catch(() => null);
  const [status_code, status] =
    sent === null
      ? [502, "failed to connect"]
      : [sent.status, sent.ok ? "OK" : "Invalid HTTP Response"];
  deliveries.unshift({ id: deliveries.length + 1, event: "ping", status, status_code });
}
