import { configOf, costTable } from "./cost-table.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { meteredSession } from "./metered-session.ts";
import type { Action } from "./answer-table.ts";
import { perFile } from "../../../helpers/per-test.ts";

const upstream = perFile(startFakeUpstream, (upstream) => upstream.close());
const text: Action = { reply: { kind: "text", text: "Done." } };

/** A session with this model first, which answers so, and then with one that answers. */
function session(config: string, actions: readonly Action[]) {
  const models = [
    ["m", config, actions],
    ["backup", configOf("custom", "backup-1"), [text]],
  ] as const;
  const tables = models.map(([name, config, actions]) => {
    const { baseUrl } = upstream().route(actions);
    return `[models.${name}]\nbaseUrl = "${baseUrl}"\n${config}\n`;
  });
  return meteredSession(`${tables.join("")}\n[budget]\nrun = 1000\n`);
}

describe("the cost of a session's calls", () => {
  test.each(costTable)(
    "is exact to the nano-dollar: $name",
    async ({ config, billed, billing = "priced", tokens, nano }) => {
      const { error, calls, charged } = await session(config, [
        { reply: { kind: "tool", command: "true" }, billed },
        { reply: { kind: "text", text: "Done." }, billed },
      ]);
      expect(error).toBeNull();
      const call = { model: "m", status: 200, billing, tokens, nano, estimated: false };
      expect(calls).toEqual([call, call]);
      expect(charged).toBe(billing === "subscription" ? 0 : 2 * nano);
    },
  );

  test("is estimated for an answer that is cut, and its repetition is charged too", async () => {
    const config = configOf("anthropic", "claude-opus-4-5");
    const { error, calls, charged } = await session(config, ["hang up in the middle", text]);
    expect(error).toBeNull();
    expect(calls).toMatchObject([
      { status: 200, estimated: true, tokens: [10, 0, 0, 0, 4] },
      { status: 200, estimated: false, tokens: [10, 0, 0, 0, 2] },
    ]);
    expect(charged).toBe(calls.reduce((sum, { nano }) => sum + nano, 0));
    expect(charged).toBeGreaterThan(0);
  });

  test("is zero for a rejected request, after which the next model is called", async () => {
    const limited = { status: 429, headers: { "retry-after": "3600" }, body: "slow down" };
    const { error, calls } = await session(configOf("openai", "gpt-5.1"), [limited]);
    expect(error).toBeNull();
    expect(calls).toMatchObject([
      { model: "m", status: 429, nano: 0, tokens: [null, null, null, null, null] },
      { model: "backup", status: 200, estimated: false },
    ]);
  });
});
