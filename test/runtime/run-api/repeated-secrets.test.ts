import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import fc from "fast-check";
import { answerMasks } from "../../../src/runtime/run-api/egress/broker/answer-masks.ts";
import { upstreamRequest } from "../../../src/runtime/run-api/egress/broker/exchange.ts";
import { maskedBytes } from "../../../src/runtime/run-api/masked-bytes.ts";
import { withoutSecrets } from "../../../src/runtime/run-api/model-gateway/headers.ts";
import { encoders, secretText } from "../../helpers/encoders.ts";

const sentinel = `AlSentinel${"a".repeat(40)}`;
const sizes = fc.integer({ min: 1, max: 60 });
const names = fc.constantFrom(...Object.keys(encoders));

test("a secret that a host's response repeats is masked in any encoding and however it is split", () =>
  fc.assert(
    fc.asyncProperty(secretText, names, sizes, async (secret, name, size) => {
      const form = encoders[name]?.(secret) ?? "";
      const answer = Buffer.from(`{"message": "${form}${form} and ${form}"}`);
      async function* body() {
        for (let at = 0; at < answer.length; at += size)
          yield await Promise.resolve(answer.subarray(at, at + size));
      }
      const ofHost = maskedBytes(body(), answerMasks([{ secret, sentinel, hosts: [] }]));
      const headers = { "x-echo": form };
      const ofModel = withoutSecrets({ status: 400, headers, body: body() }, [secret]);
      for (const passed of [ofHost, ofModel.body]) {
        const pieces: Buffer[] = [];
        for await (const piece of passed) pieces.push(piece);
        const text = Buffer.concat(pieces).toString();
        expect(text).not.toContain(form);
        expect(Buffer.byteLength(text)).toBe(answer.length);
      }
      if (/^[ -~]*$/.test(form)) expect(ofModel.headers["x-echo"]).not.toContain(form);
    }),
    { numRuns: 500 },
  ));

test("a request with a secret loses its Range header, as part of a secret is not recognized", () => {
  const lines = ["Accept", "*/*", "Range", "bytes=0-9", "If-Range", "a"];
  const { headers } = upstreamRequest(new IncomingMessage(new Socket()), "api.test", lines);
  expect(headers).toEqual(["host", "api.test", "accept-encoding", "identity", "Accept", "*/*"]);
});
