import { anAgent } from "../../../helpers/agents.ts";
import { aDelivery, aTarget } from "../../../helpers/fake-alerts.ts";
import { emptyWhyNot } from "../../../helpers/empty-why-not.ts";
import { fakeOperations } from "../../../helpers/fake-operations.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import type { WhyNot } from "../../../../src/features/webhooks/delivery-report.ts";
import type { SearchPage } from "../../../../src/features/search/search-report.ts";
import { testDeps, type TestDeps } from "../../../interfaces/gateway/start-gateway.ts";
import { hostileText as _, type Poison } from "./poison.ts";

const receiptId = "0190aaaa-0000-7000-8000-000000000001";
const at = new Date(Date.now() - 60_000).toISOString();

/** A scheduler in which every text that somebody else can write is hostile. */
export function poisonedDeps(poison: Poison): TestDeps {
  const operations = fakeOperations(
    poison.fill([
      {
        name: "dev",
        title: _,
        description: _,
        license: _,
        statusText: _,
        error: _,
        triggers: [_, _],
        models: [_],
        tags: [_],
        state: "error",
      },
    ]),
  );
  const search = { find: () => Promise.resolve(poison.fill(poisonedSearch(poison))) };
  const deps = testDeps({ operations, search });
  operations.setScheduler(poison.fill({ project: _, error: _, webhookSources: [_] }));
  operations.addLog({ agent: "dev", msg: poison.text(), level: 50 });
  for (const held of [true, false]) {
    const claim = { agent: "dev", instanceId: `dev-${held ? "a" : "b"}bcdefgh`, since: at };
    const resource = `lock:${poison.text().replaceAll(" ", "/")}`;
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
    position: _,
    at,
    kind: "said" as const,
    isError: false,
    before: [_, _],
    text,
    ranges: [[0, text.length - 1]] satisfies [number, number][],
    after: [_],
  };
  const run = { agent: "dev", at, outcome: null, usd: null, count: 9, matches: [match, match] };
  const runs = [_, null].map((instanceId) => Object.assign({ instanceId }, run));
  return { runs, next: _, indexedUntil: null, indexing: null };
}

function poisonDetail({ operations }: TestDeps, poison: Poison): void {
  const model = { name: _, provider: "custom", model: _, authType: "api_key" } as const;
  const config = anAgent("dev", {
    title: _,
    description: _,
    license: _,
    compatibility: _,
    instructions: `${poison.all()}\n\n# ${_}\n\n> ${_}\n\n- ${_}\n\n\`\`\`\n${_}\n\`\`\``,
    source: poison.address(),
    sourceCommit: _,
    credentials: [_],
    models: [
      {
        ...model,
        thinkingLevel: null,
        baseUrl: _,
        api: null,
        contextWindow: 1000,
        maxTokens: 100,
        headers: { [_]: _ },
        timeoutSeconds: 10,
        maxRetries: 1,
        price: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
        requestsPerMinute: 60,
        providerTools: [_],
        extraFields: [_],
        input: ["text"],
        credential: _,
        script: _,
      },
    ],
    webhooks: [{ source: _, type: _, filters: { repos: [_], org: _ } }],
    hooks: { pre: [_], post: [_] },
    params: { one: _, two: [_] },
    runtime: { type: "host-user", runAs: _ },
  });
  operations.details.set("dev", { config: poison.fill(config), nextTicks: [] });
  const whyNot: WhyNot = {
    ...emptyWhyNot,
    now: [_, _],
    refused: [historyEntry({ id: "w", outcome: "skipped", reason: _ })],
    refusedDeliveries: [
      {
        type: _,
        source: _,
        result: "unverified",
        count: 1,
        reason: _,
        firstAt: at,
        lastAt: at,
      },
    ],
  };
  operations.whyNots.set("dev", poison.fill(whyNot));
  const problem = () => ({ severity: "error", line: 2, column: 1, message: _ }) as const;
  operations.shownFiles = poison.fill({
    isEditable: true,
    files: [
      {
        name: "config.toml",
        path: _,
        hash: _,
        problems: [problem(), problem()],
        text: `${poison.all()}\n${_}\n`,
      },
      { name: "SKILL.md", path: _, hash: _, problems: [], text: poison.all() },
    ],
  });
}

function poisonSpending({ operations }: TestDeps, poison: Poison): void {
  for (const by of ["agent", "model", "day"] as const) {
    const row = { usd: 1, subscriptionUsd: 1, calls: 1, tokens: 1, unpriced: 1, estimated: 1 };
    const limit = { scope: _, window: "2026-11", endsAt: null, usd: 1, limit: 2, reserved: 1 };
    const key = by === "day" ? "2026-11-22" : _;
    const answer = { rows: [{ key, ...row }], limits: [limit], forecast: null };
    operations.spending.set(by, poison.fill(answer));
  }
}

function poisonAlerts({ operations: { alerting } }: TestDeps, poison: Poison): void {
  const lost = { state: "off", offSince: at } as const;
  alerting.targets = poison.fill([aTarget(_, { ...lost, lastError: _ })]);
  const ack = { by: _, at, until: null };
  alerting.open = poison.fill([
    { agent: _, topic: "runs", since: at, count: 2, reason: _, ack } as const,
  ]);
  const named = { target: _, agent: _, title: _, reason: _ };
  const dead = aDelivery(1, { ...named, instanceId: _, state: "dead", lastError: _ });
  alerting.deliveries = [poison.fill(dead)];
}

function poisonHistory({ operations }: TestDeps, poison: Poison): void {
  const named = { source: _, event: _, action: _, reason: _, model: _ };
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
    caller: _,
    calls: 1,
  } as const;
  const entries = [
    historyEntry({ ...webhook, ...named, agent: "dev", instanceId: null }),
    historyEntry({ ...call, ...named, value: { [_]: _ }, outcome: "failed" }),
  ];
  operations.entries.push(...poison.fill(entries));
  operations.trees.set("c", poison.fill({ context: _, value: { deep: [_] }, entries }));
  const receipt = {
    receiptId,
    at,
    source: _,
    type: _,
    bytes: 9,
    deliveryId: _,
    headers: { [_]: _ },
    matched: [_],
    reason: _,
    text: null,
    payload: { sender: { login: _ }, issue: { title: _, [_]: _ } },
  };
  operations.receipts.set(receiptId, poison.fill(receipt));
}

function poisonLog({ logs }: TestDeps, poison: Poison): void {
  const write = (fields: { kind: string; [name: string]: unknown }): void =>
    logs.write(poison.fill({ agent: "dev", instanceId: "dev-abcdefgh", msg: _, ...fields }));
  const trigger = { kind: "webhook", action: _, repo: _, title: _, sender: _ };
  write({ kind: "run", trigger: { ...trigger, number: 3, url: poison.address() } });
  write({ kind: "said" });
  write({ kind: _ });
  write({ kind: "process", outcome: _ });
  write({ kind: "tool-output", tool: _, output: _ });
  write({ kind: "usage", model: _, tokens: 3 });
  write({ kind: "run", outcome: "failed", exitCode: 1, level: 50 });
  for (const tool of ["bash", "al_lock", "al_call", "al_call_wait", "wait_for_trigger", _]) {
    const input = {
      command: _,
      resource: _,
      agent: _,
      context: _,
      source: _,
    };
    write({ kind: "tool", tool, input: { ...input, event: _, where: { [_]: _ } } });
    const calls = [{ agent: _, state: "ended", outcome: "failed", reason: _, value: _ }];
    const answer = { ok: true, calls, trigger: { title: _, url: poison.address() } };
    write({ kind: "tool-result", tool, output: JSON.stringify(poison.fill(answer)) });
    write({ kind: "tool-result", tool, isError: true, output: _ });
  }
}
