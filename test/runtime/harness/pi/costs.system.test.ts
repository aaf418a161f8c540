import { costTable, type CostRow } from "./cost-table.ts";
import { startFakeUpstream, type Route } from "./fake-upstream.ts";
import { meteredSession } from "./metered-session.ts";
import type { Action } from "./answer-table.ts";
import { perFile } from "../../../helpers/per-test.ts";

const budget = "\n[budget]\nrun = 1000\n";
const text: Action = { reply: { kind: "text", text: "Done." } };
const limited: Action = { status: 429, headers: { "retry-after": "3600" }, body: "slow down" };
const backup = 'provider = "custom"\nmodel = "backup-1"';

/** A model in each wire format of each provider, and what is known of an answer that is cut: its input and its output. */
const models = [
  ["anthropic", "claude-opus-4-5", { input: 10, output: 4 }],
  ["openai", "gpt-5.1", { input: null, output: 0 }],
  ["google", "gemini-2.5-pro", { input: 10, output: 4 }],
  ["groq", "llama-3.3-70b-versatile", { input: null, output: 4 }],
  ["xai", "grok-4.3", { input: null, output: 0 }],
  ["mistral", "mistral-medium-latest", { input: null, output: 4 }],
  ["openrouter", "anthropic/claude-opus-5", { input: 10, output: 4 }],
  ["openrouter", "openai/gpt-5", { input: null, output: 4 }],
  ["custom", "local-1", { input: null, output: 4 }],
] as const;
const upstream = perFile(startFakeUpstream, (upstream) => upstream.close());

const tableOf = (name: string, config: string, { baseUrl }: Route) =>
  `[models.${name}]\nbaseUrl = "${baseUrl}"\n${config}\n`;
const session = (config: string, route: Route) =>
  meteredSession(tableOf("m", config, route) + budget);

test.each(costTable)(
  "the cost of a session's calls is exact to the nano-dollar: $name",
  async (row: CostRow) => {
    const { config, billed, billing = "priced", tokens, nano } = row;
    const route = upstream().route([
      { reply: { kind: "tool", command: "true" }, billed },
      { reply: { kind: "text", text: "Done." }, billed },
    ]);
    const { error, calls, charged, messages } = await session(config, route);
    expect(error).toBeNull();
    const call = { model: "m", status: 200, billing, tokens, nano, estimated: false };
    expect(calls).toEqual([call, call]);
    expect(charged).toBe(billing === "subscription" ? 0 : 2 * nano);
    expect(messages.filter((one) => one.type === "log" && one.kind === "tool")).toHaveLength(1);
  },
);

test.each(models)(
  "the cost of a session's calls is estimated if %s's %s is cut, and its repetition is counted too",
  async (provider, model, known) => {
    const route = upstream().route(["hang up in the middle", text]);
    const { error, calls, charged } = await session(configOf(provider, model), route);
    expect(error).toBeNull();
    // As the run sent it.
    const first = (route.requests[0] ?? "").replace(',"service_tier":"default"', "");
    // A token for three bytes, where the provider has not counted them.
    const input = known.input ?? Math.ceil(Buffer.byteLength(first) / 3);
    expect(calls).toMatchObject([
      { status: 200, estimated: true, tokens: [input, 0, 0, 0, known.output] },
      { status: 200, estimated: false, tokens: [10, 0, 0, 0, 2] },
    ]);
    expect(calls.every(({ nano }) => nano > 0)).toBe(true);
    expect(charged).toBe(calls.reduce((sum, { nano }) => sum + nano, 0));
  },
);

test.each(models)(
  "the cost of a session's calls is zero if %s's %s refuses: it cools down as long as it says, and the next is called",
  async (provider, model) => {
    const first = tableOf("m", configOf(provider, model), upstream().route([limited]));
    const second = tableOf("backup", backup, upstream().route([text]));
    const before = Date.now();
    const { error, usage, calls, messages } = await meteredSession(first + second + budget);
    expect(error).toBeNull();
    expect(usage.model).toBe("backup");
    expect(calls).toMatchObject([
      {
        model: "m",
        status: 429,
        nano: 0,
        estimated: false,
        tokens: [null, null, null, null, null],
      },
      { model: "backup", status: 200, estimated: false },
    ]);
    const [cooldown] = messages.filter((message) => message.type === "cooldown");
    expect(cooldown?.model).toBe("m");
    expect(cooldown?.until).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(cooldown?.until).toBeLessThan(before + 3_660_000);
  },
);

function configOf(provider: string, model: string): string {
  return `provider = "${provider}"\nmodel = "${model}"`;
}
