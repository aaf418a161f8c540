import { denyReasons } from "../../../../src/foundation/contracts/deny-reasons.ts";
import { allowedHosts } from "../../../../src/foundation/contracts/network-allow.ts";
import {
  assertAllowed,
  EgressRefusal,
  parseAuthority,
} from "../../../../src/runtime/run-api/egress/decide.ts";

const allow = allowedHosts(["api.allowed.test", "db.lan:5432 private", "db.lan:5432", "*.w.test"]);

test.each([
  ["api.allowed.test", 443, "not private", false],
  ["a.b.w.test", 443, "not private", false],
  ["db.lan", 5432, "private", true],
])("the allow list permits %s, port %i, by an entry that is %s", (host, port, _kind, isPrivate) => {
  expect(assertAllowed({ allow }, { host, port })).toEqual({ isPrivate });
});

test("each reason to deny a host has a text that fits into an HTTP status line", () => {
  for (const reason of denyReasons) {
    const refusal = new EgressRefusal(reason, { host: "a.test", port: 443 }, "x\r\ny");
    expect(refusal.phrase).toMatch(/^[\x20-\x7e]{10,120}$/);
    expect(refusal.detail).toMatch(/\.$/);
    expect(refusal.status).toBeGreaterThanOrEqual(400);
  }
});

test.each([
  ["example.com:443", "example.com", 443],
  ["EXAMPLE.com.:22", "example.com", 22],
  ["[2001:DB8::1]:443", "2001:db8::1", 443],
  ["[::ffff:10.0.0.1]:443", "::ffff:a00:1", 443],
  ["0x7f000001:443", "127.0.0.1", 443],
  ["a_b.example.com:65535", "a_b.example.com", 65_535],
])("parseAuthority reads %s as %s, port %i", (text, host, port) => {
  expect(parseAuthority(text)).toEqual({ host, port });
});

const malformed = `example.com: example.com:0 example.com:0443 example.com:65536
example.com:0x1bb example.com@other.test:443 https://example.com:443 2001:db8::1:443 [::1%lo]:443
[example.com]:443 [::1]x:443 example.com%00.other.test:443 ex%61mple.com:443 münchen.de:443
１２７.0.0.1:443 *.example.com:443`;
test.each([
  ...malformed.split(/\s/),
  "",
  " example.com:443",
  "example.com\0:443",
  `${"a".repeat(250)}.test:443`,
])("parseAuthority returns null for %j", (text) => {
  expect(parseAuthority(text)).toBeNull();
});
