import type { Script } from "../../../src/foundation/contracts/job.ts";
import { openBridge } from "../../../src/runtime/harness/bridge/bridge.ts";
import { pause } from "../../helpers/pause.ts";
import { startScriptedModel } from "../../../src/features/models/scripted.ts";

interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string; readonly tool_calls?: readonly object[] };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** A model that plays these turns, asked through the bridge of a run. */
async function scripted(turns: Script["turns"], token?: string) {
  const model = await startScriptedModel({ turns });
  const runSocket = { socket: model.socket, token: token ?? model.token };
  const bridge = await openBridge(runSocket);
  onTestFinished(async () => {
    await bridge[Symbol.asyncDispose]();
    await model.close();
  });
  const send = (body: string, path = "/chat/completions") => {
    const headers = { authorization: `Bearer ${bridge.key}` };
    return fetch(bridge.baseUrl({ name: "one" }, "") + path, { method: "POST", headers, body });
  };
  /** Asks with messages of these roles. */
  const ask = (roles = "user", content = "hi") => {
    const messages = roles.split(" ").map((role) => ({ role, content }));
    return send(JSON.stringify({ model: "scripted", stream: true, messages }));
  };
  return {
    model,
    send,
    ask,
    /** The text of a turn and its chunks. */
    hear: async (roles?: string, content?: string) => {
      const response = await ask(roles, content);
      const lines = (await response.text()).split("\n\n").filter((line) => line !== "");
      expect(lines.pop()).toBe("data: [DONE]");
      const chunks = lines.map((line) => JSON.parse(line.slice("data: ".length)) as Chunk);
      const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
      return { chunks, deltas, text: deltas.map((delta) => delta.content ?? "").join("") };
    },
  };
}

test("a scripted model streams the text of the conversation's current turn", async () => {
  const long = "é🚀".repeat(100);
  const { hear } = await scripted([{ text: "one" }, { text: long }]);
  expect((await hear("system user")).text).toBe("one");
  const second = await hear("system user assistant tool");
  expect(second.text).toBe(long);
  expect(second.chunks.length).toBeGreaterThan(4);
});

test("a scripted model streams tool calls and ends with the finish reason tool_calls", async () => {
  const { hear } = await scripted([{ tools: [{ name: "bash", arguments: { command: "ls" } }] }]);
  const { chunks, deltas } = await hear();
  const call = { function: { name: "bash", arguments: '{"command":"ls"}' } };
  expect(deltas.flatMap((delta) => delta.tool_calls ?? [])).toMatchObject([call]);
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
});

test("a scripted model answers with an error when a turn after the script's last one is requested", async () => {
  const { hear } = await scripted([{ text: "only" }]);
  expect((await hear("user assistant")).text).toBe("(end of script)");
});

test("a scripted model rejects a wrong token, another path and a body that is not a chat", async () => {
  const guessed = await scripted([{ text: "secret" }], "guess");
  expect((await guessed.ask()).status).toBe(401);
  const { send } = await scripted([{ text: "secret" }]);
  expect((await send("{}", "/models")).status).toBe(404);
  expect((await send("[")).status).toBe(400);
});

test("a scripted model closes at once, also while a turn waits", async () => {
  const { model, ask } = await scripted([{ text: "never", delayMs: 60_000 }]);
  void ask().catch(() => undefined);
  await pause(50, "the request arrives");
  const before = performance.now();
  await model.close();
  expect(performance.now() - before).toBeLessThan(20_000);
});

test("a scripted model listens on loopback only, and leaves no file", async () =>
  expect((await scripted([{ text: "x" }])).model.socket).toMatch(/^\0/));
