import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { ApiToken, Scope } from "../../foundation/contracts/scopes.ts";
import { Problem } from "../../foundation/errors.ts";
import { agentOf } from "../../foundation/logs/log-reader.ts";
import type { IsMine } from "../../foundation/operation.ts";

/** The part of a route that decides about API tokens. */
interface TokenRule {
  readonly method: string;
  readonly tag: string;
  /** Scope that a token needs, `any` for one of any scope; null: only the operator's key and logins. */
  readonly scope?: Scope | "any" | null | undefined;
  readonly query?: z.ZodType | undefined;
  isAbout?(request: FastifyRequest, isMine: IsMine): boolean;
}

/** The scope that a route needs: by default `read` for a GET that is not a page, and for others no token will do. */
export function scopeOf({ method, tag, scope }: TokenRule): Scope | "any" | null {
  return scope === undefined ? (method === "GET" && tag !== "Pages" ? "read" : null) : scope;
}

function tokenOf({ caller }: FastifyRequest): ApiToken | null {
  return caller?.kind === "token" ? caller.token : null;
}

/** Throws Problem `forbidden` for a token without the scope of the route. */
export function assertScope(request: FastifyRequest, route: TokenRule): void {
  const token = tokenOf(request);
  if (token === null) return;
  const scope = scopeOf(route);
  if (scope === null) {
    throw forbidden("This needs the gateway's API key or a login; an API token can't do this.");
  }
  if (scope === "any" || token.scopes.includes(scope)) return;
  throw forbidden(`The API token ${JSON.stringify(token.name)} lacks the scope ${scope}.`);
}

/**
 * Throws Problem `forbidden` unless a parsed request of a token that is limited to agents is about one of them. A token
 * for one agent may leave out `?agent=`.
 */
export function assertAgents(request: FastifyRequest, route: TokenRule): void {
  const token = tokenOf(request);
  if (token === null || token.agents === null) return;
  const { agents } = token;
  const isMine = isMineOf(agents);
  const hasAgent = route.query instanceof z.ZodObject && "agent" in route.query.shape;
  const named = hasAgent ? nameAgent(request, agents) : undefined;
  if (route.isAbout?.(request, isMine) ?? isAboutNamed(request, named, isMine)) return;
  const whose = `The API token ${JSON.stringify(token.name)} is limited to ${agents.join(", ")}`;
  throw forbidden(
    hasAgent && named === undefined
      ? `${whose}: name one of them with ?agent=.`
      : `${whose}, and this request concerns others as well.`,
  );
}

/** The query's agent; the only one of a token that is limited to one becomes the query's. */
function nameAgent({ query }: FastifyRequest, agents: readonly string[]): string | undefined {
  const given = query as { agent?: string };
  const [only] = agents;
  if (given.agent === undefined && only !== undefined && agents.length === 1) given.agent = only;
  return given.agent;
}

/** Only parameters that the route reads decide which agent a request is about. */
function isAboutNamed(
  { params }: FastifyRequest,
  agent: string | undefined,
  isMine: IsMine,
): boolean {
  const { name, instanceId } = params as { readonly name?: string; readonly instanceId?: string };
  const named = [name, agent, instanceId && agentOf(instanceId)].filter((one) => one !== undefined);
  return named.length > 0 && named.every(isMine);
}

function forbidden(message: string): Problem {
  return new Problem("forbidden", message);
}

function isMineOf(agents: readonly string[]): IsMine {
  return (agent) => typeof agent === "string" && agents.includes(agent);
}

/** The check for the agents of the request's token; null without such a limit. */
export function limitOf(request: FastifyRequest): IsMine | null {
  const agents = tokenOf(request)?.agents ?? null;
  return agents && isMineOf(agents);
}

/** Values that are the agents' own, whatever they hold. */
const opaque = new Set(["value", "payload", "config", "text"]);
/** Fields with the name or a run of an agent that called; of a call, so is the source. */
const callers = new Set(["caller", "callerInstance", "agent-call/source"]);
/** Lists of agents' names. */
const nameLists = new Set(["matched", "agents", "gates"]);

/**
 * The answer without other agents: rows about them are left out of lists, their names as callers are null, and
 * the ids of their runs in sentences are hidden.
 */
export function onlyMine(answer: unknown, isMine: IsMine, isKnown: IsMine): unknown {
  const isOther = (agent: string): boolean => isKnown(agent) && !isMine(agent);
  const isShown = (row: unknown): boolean =>
    typeof row !== "object" ||
    row === null ||
    !("agent" in row) ||
    isMine(row.agent as string | null);
  const field = (key: string, value: unknown, kind: unknown): unknown => {
    if (opaque.has(key)) return value;
    if ((callers.has(key) || callers.has(`${String(kind)}/${key}`)) && typeof value === "string") {
      return isMine(isKnown(value) ? value : (agentOf(value) ?? value)) ? value : null;
    }
    if (!nameLists.has(key) || !Array.isArray(value)) return walk(value);
    return walk(value.filter((one: unknown) => typeof one !== "string" || isMine(one)));
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return withoutRuns(value, isOther);
    if (Array.isArray(value)) return value.filter(isShown).map(walk);
    if (typeof value !== "object" || value === null) return value;
    const kind = "kind" in value ? value.kind : null;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, field(key, part, kind)]),
    );
  };
  return walk(answer);
}

/** Each word is read once, and its last id from its beginning: a single expression would begin again at each letter. */
function withoutRuns(text: string, isOther: (agent: string) => boolean): string {
  return text.replace(/[a-z0-9][a-z0-9-]{9,}/g, (word) =>
    word.replace(/^(.+)-[a-z2-7]{8}(?![a-z0-9])/, (id, agent: string) =>
      isOther(agent) ? "another run" : id,
    ),
  );
}
