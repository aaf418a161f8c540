import { startGateway } from "./support.ts";

test("a scripted model stops waiting when the client disconnects", async () => {
  const model = { provider: "scripted", baseUrl: "", authType: "none", key: null } as const;
  const script = { turns: [{ text: "late", delayMs: 600_000 }] };
  const gateway = await startGateway({ model: { ...model, script } });
  const url = `${gateway.origin}/model/one/scripted/v1/chat/completions`;
  const client = new AbortController();
  const body = JSON.stringify({ model: "x", messages: [{ role: "user", content: "hi" }] });
  const answer = fetch(url, { method: "POST", body, signal: client.signal });
  await expect.poll(() => gateway.meter.plans.length).toBe(1);
  client.abort();
  await expect(answer).rejects.toThrow();
  expect(await gateway.settled()).toMatchObject({ status: null, usage: null });
});
