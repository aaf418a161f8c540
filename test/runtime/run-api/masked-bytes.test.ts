import { maskedBytes, maskOf } from "../../../src/runtime/run-api/masked-bytes.ts";

async function masking(chunks: readonly string[], masks: Parameters<typeof maskedBytes>[1]) {
  async function* body() {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  }
  const out: string[] = [];
  for await (const chunk of maskedBytes(body(), masks)) out.push(chunk.toString());
  return out;
}

test("maskedBytes emits bytes that can't begin a secret at once", async () =>
  expect(await masking(["one ", "two se"], [maskOf("secret")])).toEqual(["one ", "two ", "se"]));
