import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import { credentialName } from "../../foundation/contracts/credential-reference.ts";
import { withoutEndSlashes } from "../../foundation/contracts/plain-text.ts";
import type { Credential } from "../../foundation/credentials/load-credential.ts";
import { messageOf, Problem } from "../../foundation/errors.ts";

/** A GitHub App, as its credential describes it. */
export interface GithubApp {
  /** Reference of its credential. */
  readonly name: string;
  /** App ID or client ID. */
  readonly id: string;
  readonly privateKey: string;
  /** Without trailing slash. */
  readonly apiUrl: string;
}

export const defaultApiUrl = "https://api.github.com";

/** The app of a loaded credential. Throws a Problem for an address that would carry its tokens in the clear. */
export function githubAppOf(credential: Credential): GithubApp {
  const { app_id: id = "", private_key: privateKey = "", api_url: api } = credential.fields;
  const name = credentialName(credential);
  const apiUrl = withoutEndSlashes(api ?? defaultApiUrl);
  if (!/^https:\/\/|^http:\/\/127\.0\.0\.1(:|\/|$)/.test(apiUrl) || !URL.canParse(apiUrl)) {
    const fix = `Store it with \`al creds add ${name} --field api_url --replace\`.`;
    throw problem(`api_url of the credential ${name} is not an https address`, fix);
  }
  return { name, id, privateKey, apiUrl };
}

/** GitHub refused a request, or did not answer. */
export class GithubRefusal extends Problem {
  /** GitHub's own message, empty without one. */
  readonly said: string;
  /** Status of its answer; null without one. */
  readonly answered: number | null;

  constructor(message: string, hint: string, answered: number | null, said = "") {
    super("github_app", message.slice(0, 500), { hint, status: answered === null ? 502 : 403 });
    this.answered = answered;
    this.said = said;
  }
}

function problem(message: string, hint: string): Problem {
  return new Problem("github_app", message, { hint, status: 403 });
}

/** The clock of the machine may be ahead of GitHub's by this much, in seconds. */
const backSeconds = 60;
/** GitHub accepts ten minutes after its own clock. */
const validSeconds = 9 * 60;

/**
 * The JSON Web Token with which the app authenticates; `now` is in epoch ms. Throws a Problem for an unusable key.
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
 */
export function appJwt(app: GithubApp, now: number): string {
  const seconds = Math.floor(now / 1000);
  const claims = { iat: seconds - backSeconds, exp: seconds + validSeconds, iss: app.id };
  const [head, body] = [{ alg: "RS256", typ: "JWT" }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const signed = `${head}.${body}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), keyOf(app)).toString("base64url")}`;
}

function keyOf({ name, privateKey }: GithubApp): KeyObject {
  let key: KeyObject | null = null;
  try {
    key = createPrivateKey(privateKey);
  } catch {
    // The cause could quote a part of the key.
  }
  if (key?.asymmetricKeyType === "rsa") return key;
  const fix = `Store the .pem file of the app's page with \`al creds add ${name} --field private_key --from-file <file> --replace\`.`;
  throw problem(`private_key of the credential ${name} is not an RSA private key in PEM`, fix);
}

/** How long GitHub may take to answer, in ms. */
const timeoutMs = 15_000;

interface GithubRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** JWT, installation token, or null for a request without a login. */
  readonly token: string | null;
  readonly body?: object;
  /** The advice about a refusal; by default for one of the app's login or rights. */
  readonly hint?: string;
}

/** Sends one request; resolves with the JSON of the answer. Rejects with a `GithubRefusal`, which holds no token. */
export async function askGithub(
  { name, id, apiUrl }: Omit<GithubApp, "privateKey">,
  { method = "GET", path, token, body, hint }: GithubRequest,
): Promise<GithubAnswer> {
  const url = `${apiUrl}${path}`;
  const headers = {
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "almanac",
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(body && { "content-type": "application/json" }),
  };
  const signal = AbortSignal.timeout(timeoutMs);
  const content = body && { body: JSON.stringify(body) };
  const sent = { method, headers, signal, redirect: "manual", ...content } as const;
  const text = async () => {
    const answer = await fetch(url, sent);
    return [answer, await answer.text()] as const;
  };
  const [answer, given] = await text().catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const message = `${apiUrl} does not answer for ${name}: ${messageOf(cause)}`;
    throw new GithubRefusal(message, "Check that this machine reaches it, and api_url.", null);
  });
  const value = jsonOf(given);
  if (answer.ok) return value;
  const why = typeof value.message === "string" ? value.message : "";
  const message = `${method} ${url} answered ${answer.status}${why && `: ${why}`}`;
  // An unknown app ID is 404, a key of another app 401.
  const isLogin = answer.status === 401 || why === "Integration not found";
  const fix = isLogin
    ? `Check that app_id ${id} and private_key of the credential ${name} are of one app, and that this machine's clock is right.`
    : `Check the settings of the GitHub App ${id} and of its installation.`;
  throw new GithubRefusal(message, hint ?? fix, answer.status, why);
}

/** The members of an answer's JSON. */
export type GithubAnswer = Readonly<Record<string, unknown>>;

function jsonOf(text: string): GithubAnswer {
  try {
    return (JSON.parse(text) ?? {}) as GithubAnswer;
  } catch {
    return {};
  }
}
