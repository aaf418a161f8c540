import { denyReasons } from "../../../../src/foundation/contracts/deny-reasons.ts";
import { allowedHosts } from "../../../../src/foundation/contracts/network-allow.ts";
import {
  assertAllowed,
  EgressRefusal,
  parseAuthority,
} from "../../../../src/runtime/run-api/egress/decide.ts";

const allow = allowedHosts(["api.allowed.test", "db.lan:5432 private", "db.lan:5432", "*.w.test"]);

test.each([
  ["api.allowed.test", 443, false],
  ["a.b.w.test", 443, false],
  ["db.lan", 5432, true],
])("the allow list opens %s, port %i, and knows whether an entry says private: %s", (...row) => {
  const [host, port, isPrivate] = row;
  expect(assertAllowed({ allow }, { host, port })).toEqual({ isPrivate });
});

test("the allow list has texts for all reasons, whose first lines fit into an HTTP response", () => {
  for (const reason of denyReasons) {
    const refusal = new EgressRefusal(reason, { host: "a.test", port: 443 }, { more: "x\r\ny" });
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
])("the address of a request: %s is %s, port %i", (text, host, port) => {
  expect(parseAuthority(text)).toEqual({ host, port });
});

test("the address of a request has the default port if it names none, where there is a default", () => {
  expect(parseAuthority("example.com", 80)).toEqual({ host: "example.com", port: 80 });
  expect(parseAuthority("example.com")).toBeNull();
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
])("the address of a request: %j is not an address", (text) => {
  expect(parseAuthority(text)).toBeNull();
});
