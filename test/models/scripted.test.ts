import { afterEach, describe, expect, it } from "vitest";
import type { Script } from "../../src/contracts/job.ts";
import { startScriptedModel } from "../../src/models/scripted.ts";
import type { ScriptedModel } from "../../src/models/scripted.ts";

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly { function: { name: string; arguments: string } }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

describe("a scripted model", () => {
  const open: ScriptedModel[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((model) => model.close()));
  });

  async function start(turns: Script["turns"]): Promise<ScriptedModel> {
    const model = await startScriptedModel({ turns });
    open.push(model);
    return model;
  }

  function ask(
    model: ScriptedModel,
    roles: readonly string[],
    init: { key?: string; signal?: AbortSignal; content?: string } = {},
  ): Promise<Response> {
    const messages = roles.map((role) => ({ role, content: init.content ?? "hi" }));
    return fetch(`${model.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${init.key ?? model.key}` },
      body: JSON.stringify({ model: "scripted", stream: true, messages }),
      ...(init.signal === undefined ? {} : { signal: init.signal }),
    });
  }

  async function chunksOf(response: Response): Promise<readonly Chunk[]> {
    const lines = (await response.text()).split("\n\n").filter((line) => line !== "");
    expect(lines.at(-1)).toBe("data: [DONE]");
    return lines.slice(0, -1).map((line) => JSON.parse(line.slice("data: ".length)) as Chunk);
  }

  const textOf = (chunks: readonly Chunk[]) =>
    chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? "")).join("");

  it("streams the text of the turn that the conversation has reached", async () => {
    const long = "é🚀".repeat(100);
    const model = await start([{ text: "one" }, { text: long }]);
    expect(textOf(await chunksOf(await ask(model, ["system", "user"])))).toBe("one");
    const second = await chunksOf(await ask(model, ["system", "user", "assistant", "tool"]));
    expect(textOf(second)).toBe(long);
    expect(second.length).toBeGreaterThan(4);
  });

  it("streams tool calls and ends with the reason for them", async () => {
    const tools = [{ name: "bash", arguments: { command: "ls" } }];
    const chunks = await chunksOf(await ask(await start([{ tools }]), ["user"]));
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls.map((call) => call.function)).toEqual([
      { name: "bash", arguments: `{"command":"ls"}` },
    ]);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
  });

  it("counts more tokens for a longer prompt and a longer answer", async () => {
    const model = await start([{ text: "short" }, { text: "much longer ".repeat(20) }]);
    const usage = async (roles: string[], content: string) =>
      (await chunksOf(await ask(model, roles, { content }))).at(-1)?.usage;
    const small = await usage(["user"], "hi");
    const large = await usage(["user", "assistant"], "hi ".repeat(500));
    expect(small?.completion_tokens).toBe(2);
    expect(large?.completion_tokens).toBe(60);
    expect(large?.prompt_tokens).toBeGreaterThan((small?.prompt_tokens ?? 0) + 700);
  });

  it("says that the script is over when it is asked for one more turn", async () => {
    const model = await start([{ text: "only" }]);
    expect(textOf(await chunksOf(await ask(model, ["user", "assistant"])))).toBe("(end of script)");
  });

  it("answers with the status and the message that a turn asks for", async () => {
    const response = await ask(await start([{ status: 429, error: "slow down" }]), ["user"]);
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ error: { message: "slow down" } });
  });

  it("waits as long as a turn says", async () => {
    const model = await start([{ text: "late", delayMs: 150 }]);
    const before = performance.now();
    await (await ask(model, ["user"])).text();
    expect(performance.now() - before).toBeGreaterThanOrEqual(145);
  });

  it("refuses a wrong key, another path and a body that is no chat", async () => {
    const model = await start([{ text: "secret" }]);
    expect((await ask(model, ["user"], { key: "guess" })).status).toBe(401);
    expect((await fetch(`${model.baseUrl}/models`)).status).toBe(404);
    const headers = { authorization: `Bearer ${model.key}` };
    const url = `${model.baseUrl}/chat/completions`;
    expect((await fetch(url, { method: "POST", headers, body: "[" })).status).toBe(400);
  });

  it("closes at once, also while it waits", async () => {
    const model = await start([{ text: "never", delayMs: 60_000 }]);
    const asked = ask(model, ["user"]).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = performance.now();
    await model.close();
    expect(await asked).toBeInstanceOf(Error);
    expect(performance.now() - before).toBeLessThan(2000);
  });

  it("listens on the loopback interface only", async () => {
    expect((await start([{ text: "x" }])).baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  });
});
