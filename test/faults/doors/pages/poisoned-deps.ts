import { anAgent } from "../../../helpers/agents.ts";
import { aDelivery, aTarget } from "../../../helpers/fake-alerts.ts";
import { emptyWhyNot } from "../../../helpers/empty-why-not.ts";
import { fakeOperations } from "../../../helpers/fake-operations.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import type { SearchPage } from "../../../../src/features/search/search-report.ts";
import { testDeps, type TestDeps } from "../../../interfaces/gateway/start-gateway.ts";
import type { Poison } from "./poison.ts";

const receiptId = "0190aaaa-0000-7000-8000-000000000001";
const at = new Date(Date.now() - 60_000).toISOString();

/** A scheduler in which every text that somebody else can write is hostile. */
export function poisonedDeps(poison: Poison): TestDeps {
  const text = () => poison.text();
  const operations = fakeOperations([
    {
      name: "dev",
      title: text(),
      description: text(),
      license: text(),
      statusText: text(),
      error: text(),
      triggers: [text(), text()],
      models: [text()],
      tags: [text()],
      state: "error",
    },
  ]);
  const search = { find: () => Promise.resolve(poisonedSearch(poison)) };
  const deps = testDeps({ operations, search });
  operations.setScheduler({ project: text(), error: text(), webhookSources: [text()] });
  operations.addLog({ agent: "dev", msg: text(), level: 50 });
  for (const held of [true, false]) {
    const claim = { agent: "dev", instanceId: `dev-${held ? "a" : "b"}bcdefgh`, since: at };
    const resource = `lock:${text().replaceAll(" ", "/")}`;
    operations.setClaim({ ...claim, resource, held, expiresAt: held ? at : null });
  }
  poisonDetail(deps, poison);
  poisonSpending(deps, poison);
  poisonAlerts(deps, poison);
  poisonHistory(deps, poison);
  poisonLog(deps, poison);
  return deps;
}

function poisonedSearch(poison: Poison): SearchPage {
  const text = poison.text();
  const match = {
    position: poison.text(),
    at,
    kind: "said" as const,
    isError: false,
    before: [poison.text(), poison.text()],
    text,
    ranges: [[0, text.length - 1]] satisfies [number, number][],
    after: [poison.text()],
  };
  const run = { agent: "dev", at, outcome: null, usd: null, count: 9, matches: [match, match] };
  const runs = [poison.text(), null].map((instanceId) => Object.assign({ instanceId }, run));
  return { runs, next: poison.text(), indexedUntil: null, indexing: null };
}

function poisonDetail({ operations }: TestDeps, poison: Poison): void {
  const text = () => poison.text();
  const model = { name: text(), provider: "custom", model: text(), authType: "api_key" } as const;
  const config = anAgent("dev", {
    title: text(),
    description: text(),
    license: text(),
    compatibility: text(),
    instructions: `${poison.all()}\n\n# ${text()}\n\n> ${text()}\n\n- ${text()}\n\n\`\`\`\n${text()}\n\`\`\``,
    source: poison.address(),
    sourceCommit: text(),
    credentials: [text()],
    models: [
      {
        ...model,
        thinkingLevel: null,
        baseUrl: text(),
        api: null,
        contextWindow: 1000,
        maxTokens: 100,
        headers: { [text()]: text() },
        timeoutSeconds: 10,
        maxRetries: 1,
        price: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
        requestsPerMinute: 60,
        providerTools: [text()],
        extraFields: [text()],
        input: ["text"],
        credential: text(),
        script: text(),
      },
    ],
    webhooks: [{ source: text(), type: text(), filters: { repos: [text()], org: text() } }],
    hooks: { pre: [text()], post: [text()] },
    params: { one: text(), two: [text()] },
    runtime: { type: "host-user", runAs: text() },
  });
  operations.details.set("dev", { config, nextTicks: [] });
  const reason = { ...emptyWhyNot, now: [text(), text()] };
  operations.whyNots.set("dev", {
    ...reason,
    refused: [historyEntry({ id: "w", outcome: "skipped", reason: text() })],
    refusedDeliveries: [
      {
        type: text(),
        source: text(),
        result: "unverified",
        count: 1,
        reason: text(),
        firstAt: at,
        lastAt: at,
      },
    ],
  });
  const problem = () => ({ severity: "error", line: 2, column: 1, message: text() }) as const;
  operations.shownFiles = {
    isEditable: true,
    files: [
      {
        name: "config.toml",
        path: text(),
        hash: text(),
        problems: [problem(), problem()],
        text: `${poison.all()}\n${text()}\n`,
      },
      { name: "SKILL.md", path: text(), hash: text(), problems: [], text: poison.all() },
    ],
  };
}

function poisonSpending({ operations }: TestDeps, poison: Poison): void {
  const text = () => poison.text();
  for (const by of ["agent", "model", "day"] as const) {
    const row = { usd: 1, subscriptionUsd: 1, calls: 1, tokens: 1, unpriced: 1, estimated: 1 };
    const limit = { scope: text(), window: "2026-11", endsAt: null, usd: 1, limit: 2, reserved: 1 };
    const key = by === "day" ? "2026-11-22" : text();
    operations.spending.set(by, { rows: [{ key, ...row }], limits: [limit], forecast: null });
  }
}

function poisonAlerts({ operations: { alerting } }: TestDeps, poison: Poison): void {
  const text = () => poison.text();
  const lost = { state: "off", offSince: at } as const;
  alerting.targets = [aTarget(text(), { ...lost, lastError: text() })];
  const ack = { by: text(), at, until: null };
  alerting.open = [{ agent: text(), topic: "runs", since: at, count: 2, reason: text(), ack }];
  const named = { target: text(), agent: text(), title: text(), reason: text() };
  alerting.deliveries = [
    aDelivery(1, { ...named, instanceId: text(), state: "dead", lastError: text() }),
  ];
}

function poisonHistory({ operations }: TestDeps, poison: Poison): void {
  const text = () => poison.text();
  const named = { source: text(), event: text(), action: text(), reason: text(), model: text() };
  const webhook = {
    id: "w",
    at,
    kind: "webhook",
    receiptId,
    deadLetter: true,
    outcome: "dropped",
  } as const;
  const call = {
    id: "c",
    at,
    kind: "agent-call",
    callId: "call-c",
    caller: text(),
    calls: 1,
  } as const;
  const entries = [
    historyEntry({ ...webhook, ...named, agent: "dev", instanceId: null }),
    historyEntry({ ...call, ...named, value: { [text()]: text() }, outcome: "failed" }),
  ];
  operations.entries.push(...entries);
  operations.trees.set("c", { context: text(), value: { deep: [text()] }, entries });
  operations.receipts.set(receiptId, {
    receiptId,
    at,
    source: text(),
    type: text(),
    bytes: 9,
    deliveryId: text(),
    headers: { [text()]: text() },
    matched: [text()],
    reason: text(),
    text: null,
    payload: { sender: { login: text() }, issue: { title: text(), [text()]: text() } },
  });
}

function poisonLog({ logs }: TestDeps, poison: Poison): void {
  const text = () => poison.text();
  const write = (fields: { kind: string; [name: string]: unknown }): void =>
    logs.write({ agent: "dev", instanceId: "dev-abcdefgh", msg: text(), ...fields });
  const trigger = { kind: "webhook", action: text(), repo: text(), title: text(), sender: text() };
  write({ kind: "run", trigger: { ...trigger, number: 3, url: poison.address() } });
  write({ kind: "said" });
  write({ kind: text() });
  write({ kind: "process", outcome: text() });
  write({ kind: "tool-output", tool: text(), output: text() });
  write({ kind: "usage", model: text(), tokens: 3 });
  write({ kind: "run", outcome: "failed", exitCode: 1, level: 50 });
  for (const tool of ["bash", "al_lock", "al_call", "al_call_wait", "wait_for_trigger", text()]) {
    const input = {
      command: text(),
      resource: text(),
      agent: text(),
      context: text(),
      source: text(),
    };
    write({ kind: "tool", tool, input: { ...input, event: text(), where: { [text()]: text() } } });
    const calls = [
      { agent: text(), state: "ended", outcome: "failed", reason: text(), value: text() },
    ];
    const answer = { ok: true, calls, trigger: { title: text(), url: poison.address() } };
    write({ kind: "tool-result", tool, output: JSON.stringify(answer) });
    write({ kind: "tool-result", tool, isError: true, output: text() });
  }
}
