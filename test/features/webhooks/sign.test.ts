import fc from "fast-check";
import { providerTable } from "../../../src/features/webhooks/providers/table.ts";
import { atTime, signDelivery, unsignedDelivery } from "../../../src/features/webhooks/sign.ts";
import { bytes, providerOf } from "./deliveries.ts";

const now = 1_700_000_000_000;
const whsec = fc.uint8Array({ minLength: 1, maxLength: 64 }).map(toWhsec);
const plain = fc.string({ minLength: 1 }).filter((secret) => !secret.startsWith("whsec_"));

function toWhsec(key: Uint8Array): string {
  return `whsec_${Buffer.from(key).toString("base64")}`;
}

/** Secrets with which a provider signs the body. */
function secretsOf(type: string): fc.Arbitrary<string> {
  return type === "standard" || type === "gitlab" ? whsec : plain;
}

const body = fc
  .json()
  .map((data) =>
    bytes(`{"webhookTimestamp":${now},"timestamp":${now},"type":"Issue","data":${data}}`),
  );

const types = [...providerTable.keys()];

test.each(types)(
  "a webhook delivery signed for %s is verified, and rejected once a bit is flipped",
  (type) => {
    fc.assert(
      fc.property(secretsOf(type), body, fc.nat(), fc.nat({ max: 7 }), (secret, bytes, at, bit) => {
        const headers = signDelivery(type, secret, bytes, now);
        expect(providerOf(type).verify({ headers, body: bytes }, secret, now)).toEqual({
          ok: true,
        });
        const flipped = Buffer.from(bytes);
        const index = at % flipped.length;
        flipped[index] = (flipped[index] ?? 0) ^ (1 << bit);
        expect(providerOf(type).verify({ headers, body: flipped }, secret, now).ok).toBe(false);
      }),
    );
  },
);

test.each(types)(
  "verification for %s rejects a webhook delivery signed with another secret",
  (type) => {
    fc.assert(
      fc.property(secretsOf(type), secretsOf(type), body, (secret, other, bytes) => {
        // HMAC pads a short key with zero bytes and hashes a long one, so only ordinary keys differ for sure.
        fc.pre(secret !== other && !/\0/.test(secret + other));
        fc.pre(!secret.startsWith("whsec_") || keyHex(secret) !== keyHex(other));
        const headers = signDelivery(type, secret, bytes, now);
        expect(providerOf(type).verify({ headers, body: bytes }, other, now).ok).toBe(false);
      }),
    );
  },
);

function keyHex(secret: string): string {
  return Buffer.from(secret.slice(6), "base64")
    .toString("hex")
    .replace(/(00)+$/, "");
}

test("signing a test delivery for an unknown type is rejected with the known types as a hint", () =>
  expect(() => signDelivery("gogs", "s", bytes("{}"), now)).toThrow(
    expect.objectContaining({ code: "unknown_webhook_type" }) as Error,
  ));

test("a test delivery without a secret has the event's header and no signature", () => {
  for (const type of providerTable.keys()) {
    const headers = unsignedDelivery(type, bytes("{}"), now, { event: "issues", id: "d1" });
    const secrets = new Set(providerOf(type).secretHeaders);
    expect(Object.keys(headers).filter((name) => secrets.has(name))).toEqual([]);
  }
  const headers = unsignedDelivery("github", bytes("{}"), now, { event: "push" });
  expect(headers).toMatchObject({ "x-github-event": "push" });
});

test("atTime sets a timestamp in the body to the present, and changes no other body", () => {
  const old = bytes('{"webhookTimestamp": 1, "a": [1]}');
  const present = { webhookTimestamp: now, a: [1] };
  expect(JSON.parse(atTime("linear", old, now).toString())).toEqual(present);
  expect(atTime("linear", bytes("no json"), now)).toEqual(bytes("no json"));
  expect(atTime("github", old, now)).toBe(old);
});
