import { randomUUID } from "node:crypto";
import type { RequestBody, RequestName } from "../../../src/runtime/wire/protocol.ts";
import { aMemory, anAgent } from "../../helpers/agents.ts";
import { filesBelow } from "../../helpers/files-below.ts";
import { ada, anMcpServer, approving, ended, startedWorld } from "./of-world.ts";
import { worldSecret as secret } from "./world.ts";

type Bodies = { readonly [N in RequestName]: Required<RequestBody<N>> };

/** A valid body of each request, with every field: a new row or field has to be added here. */
const bodies: Bodies = {
  lock: { resource: "x:y", ttlSeconds: 60, waitSeconds: 0 },
  unlock: { resource: "x:y" },
  "lock-heartbeat": { resource: "x:y", ttlSeconds: 60 },
  call: { agent: "other", context: "Say hello.", cancelOnExit: true },
  "call-check": { callIds: [randomUUID()] },
  "call-wait": { callIds: [randomUUID()], timeoutSeconds: 0 },
  "call-files": { callId: randomUUID(), path: "report.md" },
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
  "mcp-tools": {
    server: "inside",
    found: [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }],
  },
  "mcp-changes": {},
  "mcp-call": { server: "evil", tool: "echo", arguments: { a: "b" }, traceparent: "00-1-2-3" },
  "mcp-allow": { server: "inside", tool: "look", arguments: { a: "b" } },
  "model-verdict": { call: randomUUID() },
  seen: { act: "add", id: "issue-7" },
  "memory-problem": { tree: "memory", problem: "memory/ is too large." },
};

/** The value once for each of its texts and keys, with the secret in it. */
function withSecret(value: unknown): unknown[] {
  if (typeof value === "string") {
    // Still JSON, if it was.
    return [value.startsWith("{") ? value.replace('":"', `":"${secret}`) : `${value}${secret}`];
  }
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    return list.flatMap((one, at) => withSecret(one).map((two) => list.with(at, two)));
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([key, one]) => [
    ...withSecret(one).map((two) => ({ ...value, [key]: two })),
    { ...value, [`${key}${secret}`]: one },
  ]);
}

/**
 * Each request with the secret in each of its texts. A field that has another name, and a call of an agent that does not
 * exist, are refused before they are performed.
 */
const requests = [
  ...Object.entries(bodies),
  ["ask", { question: "Where?", default: "this" }] as const,
].flatMap(([name, body]) =>
  Object.entries(body).flatMap(([field, value]) =>
    (field === "agent" ? [] : withSecret(value)).map((one) => ({
      name: name as RequestName,
      body: { ...body, [field]: one },
    })),
  ),
);

test("a secret in any text of any request of a run is neither stored nor emitted", async () => {
  const a = anAgent("a", {
    mcp: [
      anMcpServer({ name: "evil", url: "https://evil.test" }),
      anMcpServer({ name: "inside", command: ["true"] }),
    ],
    ...approving({ agents: ["other"], tools: ["evil.echo"] }),
    memory: aMemory(),
  });
  const answer = { content: [{ type: "text" as const, text: secret }], isError: false };
  const { world, run } = await startedWorld({
    agents: [a, anAgent("other")],
    connectMcp: () =>
      Promise.resolve({
        tools: () =>
          Promise.resolve({
            tools: [{ name: "echo", description: secret, inputSchema: {} }],
            omitted: [],
          }),
        call: () => Promise.resolve(answer),
        close: () => Promise.resolve(),
      }),
  });
  /** A person answers with a secret, too, allows a tool once, and denies a call, whose context reaches its agent as it is. */
  const answerAll = async () => {
    for (const { id, kind, form } of world.questions.list({ state: "open", limit: 9 })) {
      const given = form.kind === "choice" ? (form.choices.at(-1) ?? "") : `It is ${secret}.`;
      await world.questions.answer(
        id,
        kind === "ask" ? given : kind === "call" ? "deny" : "once",
        ada,
      );
    }
  };
  for (const { name, body } of requests) {
    let isOver = false;
    const over = () => void (isOver = true);
    world.ask(run, name, body as never).then(over, over);
    const answered = async () => {
      await answerAll();
      return isOver;
    };
    await expect
      .poll(answered, { interval: 2, message: JSON.stringify({ name, body }) })
      .toBe(true);
  }
  const asked = world.questions.list({ limit: 200 });
  expect(new Set(asked.map(({ kind }) => kind))).toEqual(new Set(["ask", "call", "tool"]));
  await ended(world, run);
  const seen = JSON.stringify([world.events, world.history(), world.problems, asked]);
  expect(seen).toContain("answered: It is [redacted].");
  expect(seen).not.toContain(secret);
  const leaks = async () =>
    [...(await filesBelow(world.dir))]
      .filter(([, text]) => text.includes(secret))
      .map(([path]) => path);
  await expect.poll(leaks).toEqual([]);
}, 120_000);
