import { describe, expect, it } from "vitest";
import { denyReasons } from "../../../../src/foundation/contracts/deny-reasons.ts";
import { allowedHosts } from "../../../../src/foundation/contracts/network-allow.ts";
import { assertAllowed, EgressRefusal } from "../../../../src/runtime/run-api/egress/decide.ts";

const allow = allowedHosts(["api.allowed.test", "db.lan:5432 private", "db.lan:5432", "*.w.test"]);
const asked = (host: string, port = 443) => ({ host, port });

describe("the allow list", () => {
  it("allows hosts of its entries, and knows whether an entry says private", () => {
    const policy = { allow };
    expect(assertAllowed(policy, asked("api.allowed.test"))).toEqual({ isPrivate: false });
    expect(assertAllowed(policy, asked("a.b.w.test"))).toEqual({ isPrivate: false });
    expect(assertAllowed(policy, asked("db.lan", 5432))).toEqual({ isPrivate: true });
  });

  it("has texts for all reasons, whose first lines fit into an HTTP response", () => {
    for (const reason of denyReasons) {
      const refusal = new EgressRefusal(reason, asked("api.allowed.test"), { more: "x\r\ny" });
      expect(refusal.phrase).toMatch(/^[\x20-\x7e]{10,120}$/);
      expect(refusal.detail).toMatch(/\.$/);
      expect(refusal.status).toBeGreaterThanOrEqual(400);
    }
  });
});
