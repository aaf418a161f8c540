import type { Script } from "../../../src/foundation/contracts/job.ts";
import { openBridge, type Bridge } from "../../../src/runtime/harness/bridge/bridge.ts";
import { pause } from "../../helpers/pause.ts";
import { startScriptedModel, type ScriptedModel } from "../../../src/features/models/scripted.ts";

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

interface Asked {
  readonly model: ScriptedModel;
  readonly bridge: Bridge;
}
async function start(turns: Script["turns"], token?: string): Promise<Asked> {
  const model = await startScriptedModel({ turns });
  const runSocket = { socket: model.socket, token: token ?? model.token };
  const bridge = await openBridge({ runSocket, onInterrupted: () => undefined });
  onTestFinished(async () => {
    await bridge[Symbol.asyncDispose]();
    await model.close();
  });
  return { model, bridge };
}

function ask({ bridge }: Asked, roles: readonly string[], content = "hi"): Promise<Response> {
  const messages = roles.map((role) => ({ role, content }));
  return send(bridge, JSON.stringify({ model: "scripted", stream: true, messages }));
}

function send(bridge: Bridge, body: string, path = "/chat/completions"): Promise<Response> {
  const headers = { authorization: `Bearer ${bridge.key}` };
  return fetch(bridge.baseUrl({ name: "one" }, "") + path, { method: "POST", headers, body });
}

async function chunksOf(response: Response): Promise<readonly Chunk[]> {
  const lines = (await response.text()).split("\n\n").filter((line) => line !== "");
  expect(lines.at(-1)).toBe("data: [DONE]");
  return lines.slice(0, -1).map((line) => JSON.parse(line.slice("data: ".length)) as Chunk);
}

const textOf = (chunks: readonly Chunk[]) =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? "")).join("");

test("a scripted model streams the text of the turn that the conversation has reached", async () => {
  const long = "é🚀".repeat(100);
  const model = await start([{ text: "one" }, { text: long }]);
  expect(textOf(await chunksOf(await ask(model, ["system", "user"])))).toBe("one");
  const second = await chunksOf(await ask(model, ["system", "user", "assistant", "tool"]));
  expect(textOf(second)).toBe(long);
  expect(second.length).toBeGreaterThan(4);
});

test("a scripted model streams tool calls and ends with the finish reason tool_calls", async () => {
  const tools = [{ name: "bash", arguments: { command: "ls" } }];
  const chunks = await chunksOf(await ask(await start([{ tools }]), ["user"]));
  const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  expect(calls).toMatchObject([{ function: { name: "bash", arguments: '{"command":"ls"}' } }]);
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
});

test("a scripted model counts more tokens for a longer prompt and a longer answer", async () => {
  const model = await start([{ text: "short" }, { text: "much longer ".repeat(20) }]);
  const usage = async (roles: string[], content: string) =>
    (await chunksOf(await ask(model, roles, content))).at(-1)?.usage;
  const small = await usage(["user"], "hi");
  const large = await usage(["user", "assistant"], "hi ".repeat(500));
  expect(small?.completion_tokens).toBe(2);
  expect(large?.completion_tokens).toBe(60);
  expect(large?.prompt_tokens).toBeGreaterThan((small?.prompt_tokens ?? 0) + 700);
});

test("a scripted model reports the end of the script when one more turn is requested", async () => {
  const model = await start([{ text: "only" }]);
  expect(textOf(await chunksOf(await ask(model, ["user", "assistant"])))).toBe("(end of script)");
});

test("a scripted model responds with the status and the message of the turn", async () => {
  const response = await ask(await start([{ status: 429, error: "slow down" }]), ["user"]);
  expect(response.status).toBe(429);
  expect(await response.json()).toMatchObject({ error: { message: "slow down" } });
});

test("a scripted model waits as long as a turn says", async () => {
  const model = await start([{ text: "late", delayMs: 150 }]);
  const before = performance.now();
  await (await ask(model, ["user"])).text();
  expect(performance.now() - before).toBeGreaterThanOrEqual(145);
});

test("a scripted model rejects a wrong token, another path and a body that is not a chat", async () => {
  const guessed = await start([{ text: "secret" }], "guess");
  expect((await ask(guessed, ["user"])).status).toBe(401);
  const { bridge } = await start([{ text: "secret" }]);
  expect((await send(bridge, "{}", "/models")).status).toBe(404);
  expect((await send(bridge, "[")).status).toBe(400);
});

test("a scripted model closes at once, also while a turn waits", async () => {
  const asked = await start([{ text: "never", delayMs: 60_000 }]);
  void ask(asked, ["user"]).catch(() => undefined);
  await pause(50, "the request arrives");
  const before = performance.now();
  await asked.model.close();
  expect(performance.now() - before).toBeLessThan(20_000);
});

test("a scripted model listens on loopback only, and leaves no file", async () =>
  expect((await start([{ text: "x" }])).model.socket).toMatch(/^\0/));
