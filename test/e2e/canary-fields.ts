import { randomUUID } from "node:crypto";
import type { RequestBody, RequestName } from "../../src/runtime/wire/protocol.ts";
import type { RunMessage } from "../../src/runtime/wire/run-messages.ts";

type Bodies = { readonly [N in RequestName]: Required<RequestBody<N>> };
type Messages = { readonly [T in RunMessage["type"]]: Required<Extract<RunMessage, { type: T }>> };

/** A valid body of each request, with every field: a new row or field has to be added here. */
const bodies: Bodies = {
  lock: { resource: "x:y", ttlSeconds: 60, waitSeconds: 0 },
  unlock: { resource: "x:y" },
  "lock-heartbeat": { resource: "x:y", ttlSeconds: 60 },
  call: { agent: "other", context: "Say hello.", cancelOnExit: true },
  "call-check": { callIds: [randomUUID()] },
  "call-wait": { callIds: [randomUUID()], timeoutSeconds: 0 },
  wait: {
    kind: "webhook",
    source: "gh",
    event: "push",
    where: { "issue.title": "Bug" },
    timeoutSeconds: 0,
  },
  cancel: {},
  ask: {
    question: "Which?",
    choices: ["yes", "no"],
    type: "text",
    min: 0,
    max: 9,
    timeoutSeconds: 600,
    default: "no",
  },
  "budget-wait": {},
  inbox: { after: 0, isLast: false },
  "session-end": {},
  "keep-session": { part: 0, isLast: true, entries: '{"role":"user","content":"Hi."}' },
  "kept-session": { part: 0 },
  "mcp-tools": {
    server: "inside",
    found: [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }],
  },
  "mcp-changes": {},
  "mcp-call": { server: "evil", tool: "echo", arguments: { a: "b" }, traceparent: "00-1-2-3" },
  "mcp-allow": { server: "inside", tool: "look", arguments: { a: "b" } },
  "model-verdict": { call: randomUUID() },
};

const messages: Messages = {
  log: { type: "log", level: 30, time: 1, kind: "said", msg: "Hi.", fields: { a: ["b"] } },
  status: { type: "status", text: "Looks." },
  ready: { type: "ready" },
  return: { type: "return", json: '{"a":"b"}', more: false },
  rerun: { type: "rerun" },
  cooldown: { type: "cooldown", model: "hostile", until: 1 },
  end: {
    type: "end",
    error: "It failed.",
    blocked: true,
    stopped: true,
    usage: { model: "hostile", tokens: 1, costUsd: 1, turns: 1 },
  },
};

/** The value once for each of its texts and keys, with the secret in it. */
function withSecret(value: unknown, secret: string): unknown[] {
  if (typeof value === "string") {
    // Still JSON, if it was.
    return [value.startsWith("{") ? value.replace('":"', `":"${secret}`) : `${value}${secret}`];
  }
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    return list.flatMap((one, at) => withSecret(one, secret).map((two) => list.with(at, two)));
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([key, one]) => [
    ...withSecret(one, secret).map((two) => ({ ...value, [key]: two })),
    { ...value, [`${key}${secret}`]: one },
  ]);
}

interface Asked {
  readonly name: RequestName;
  readonly body: unknown;
}

/** All requests with the secret in each field. */
export const requestsWith = (secret: string): readonly Asked[] =>
  [...Object.entries(bodies), ["ask", { question: "Where?", default: "this" }] as const].flatMap(
    ([name, body]) =>
      withSecret(body, secret).map((one) => ({ name: name as RequestName, body: one })),
  );

/** All messages of a run's output with the secret in each field. */
export const messagesWith = (secret: string): readonly string[] =>
  Object.values(messages)
    .flatMap((message) => withSecret(message, secret))
    .map((message) => JSON.stringify(message));
