import { expect, test } from "vitest";
import { maskedBytes, maskOf } from "../../../src/runtime/run-api/masked-bytes.ts";

async function masking(chunks: readonly string[], masks: Parameters<typeof maskedBytes>[1]) {
  async function* body() {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  }
  const out: string[] = [];
  for await (const chunk of maskedBytes(body(), masks)) out.push(chunk.toString());
  return out;
}

test("a secret is masked wherever a body is cut", async () => {
  const text = "a-secret-b secret";
  for (let at = 0; at <= text.length; at += 1) {
    const out = await masking([text.slice(0, at), text.slice(at)], [maskOf("secret")]);
    expect(out.join("")).toBe("a-******-b ******");
  }
});

test("a body of single bytes is masked", async () => {
  const out = await masking(Array.from("ssecsecretsecre"), [maskOf("secret", "STAND-IN")]);
  expect(out.join("")).toBe("ssecSTAND-secre");
});

test("what no secret begins with is not held back", async () => {
  expect(await masking(["one ", "two se"], [maskOf("secret")])).toEqual(["one ", "two ", "se"]);
});

test("lengths stay", () => {
  expect(maskOf("sécret", "x").put.toString()).toBe("x******");
  expect(maskOf("sec", "longer").put.toString()).toBe("lon");
});

test("without masks a body passes as it is", async () => {
  expect(await masking(["one"], [])).toEqual(["one"]);
});
