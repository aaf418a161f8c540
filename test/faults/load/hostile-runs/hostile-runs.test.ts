import { request } from "node:http";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { attack, hostileShapes, type HostileRun } from "./attack.ts";
import { startSockets } from "./started.ts";
import { pause } from "../../../helpers/pause.ts";

/** Calls the model that answers, with these bytes. */
function call({ path: socketPath, token }: HostileRun, host: string, bytes: number) {
  const body = `{"messages":[{"role":"user","content":"${"a".repeat(bytes)}"}]}`;
  return new Promise<void>((resolve, reject) => {
    const path = `/model/good/${host}/v1/chat/completions`;
    const headers = { authorization: `Bearer ${token}`, "content-length": body.length };
    request({ socketPath, path, method: "POST", headers }, (response) => {
      expect(response.statusCode).toBe(200);
      response.resume().once("end", () => resolve());
    })
      .once("error", reject)
      .end(body);
  });
}

test("ten hostile runs at once use bounded memory and let another run call its model", async () => {
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
    await pause(1_000, "the attack goes on");
    await call(honest, host, 100_000);
  }
  expect(await peakMb()).toBeLessThan(400);
}, 180_000);
