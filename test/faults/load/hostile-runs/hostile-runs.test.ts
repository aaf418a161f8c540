import { request } from "node:http";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { attack, hostileShapes, type HostileRun } from "./attack.ts";
import { startSockets } from "./started.ts";

/** How long a call of these bytes to the model that answers takes, in ms. */
function callMs({ path: socketPath, token }: HostileRun, host: string, bytes: number) {
  const began = performance.now();
  const body = `{"messages":[{"role":"user","content":"${"a".repeat(bytes)}"}]}`;
  return new Promise<number>((resolve, reject) => {
    const path = `/model/good/${host}/v1/chat/completions`;
    const headers = { authorization: `Bearer ${token}`, "content-length": body.length };
    request({ socketPath, path, method: "POST", headers }, (response) => {
      expect(response.statusCode).toBe(200);
      response.resume().once("end", () => resolve(performance.now() - began));
    })
      .once("error", reject)
      .end(body);
  });
}

test("ten hostile runs at once use bounded memory and delay no other run", async () => {
  await using stack = new AsyncDisposableStack();
  const { runs, host, peakMb } = await startSockets(stack, tempDir(), 11);
  const [honest, ...hostile] = runs;
  if (honest === undefined) throw new Error("no run was opened");
  const over = new AbortController();
  stack.defer(() => over.abort());
  // All shapes are there at once, and each run has one of the largest.
  const shapes = hostileShapes();
  for (const [index, run] of hostile.entries()) {
    attack(run, [...shapes.slice(index), ...shapes.slice(0, index)].slice(0, 3), over.signal);
  }
  for (let n = 0; n < 5; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await callMs(honest, host, 100_000)).toBeLessThan(5_000);
  }
  expect(await peakMb()).toBeLessThan(400);
}, 60_000);
