import type { Script } from "../../../../src/foundation/contracts/job.ts";
import { startGateway } from "./support.ts";

const messages = [{ role: "user", content: "hi" }];

async function start(turns: Script["turns"]) {
  const model = { provider: "scripted", baseUrl: "", authType: "none", key: null } as const;
  const gateway = await startGateway({ model: { ...model, script: { turns } } });
  return { gateway, url: `${gateway.origin}/model/one/scripted/v1/chat/completions` };
}

test("a scripted model stops waiting when the client disconnects", async () => {
  const { gateway, url } = await start([{ text: "late", delayMs: 600_000 }]);
  const client = new AbortController();
  const body = JSON.stringify({ model: "x", messages });
  const answer = fetch(url, { method: "POST", body, signal: client.signal });
  await expect.poll(() => gateway.meter.plans.length).toBe(1);
  client.abort();
  await expect(answer).rejects.toThrow();
  expect(await gateway.settled()).toMatchObject({ status: null, usage: null });
});
