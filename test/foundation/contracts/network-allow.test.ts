import {
  allowedHosts,
  canonicalHost,
  isFor,
  parseAllowEntry,
  networkPresets,
} from "../../../src/foundation/contracts/network-allow.ts";

test.each([
  ["Example.COM.", "example.com"],
  ["münchen.de", "xn--mnchen-3ya.de"],
  ["a_b.example.com", "a_b.example.com"],
  ["127.0.0.1", "127.0.0.1"],
  ["0x7f.1", "127.0.0.1"],
  ["2130706433", "127.0.0.1"],
  ["１２７.0.0.1", "127.0.0.1"],
  ["[2001:DB8:0:0::1]", "2001:db8::1"],
  ["[::ffff:10.0.0.1]", "::ffff:a00:1"],
])("canonicalHost of %s is %s", (text, host) => {
  expect(canonicalHost(text)).toBe(host);
});

test.each([
  "",
  ".",
  "a..b",
  "a b",
  "a/b",
  "a%2eb",
  "a@b",
  "2001:db8::1",
  "[::1%eth0]",
  "[::1",
  "-a.example.com",
  "1.2.3.4.5",
  "example.0x1g.999",
  `${"a".repeat(64)}.example.com`,
  "*.example.com",
])("canonicalHost of %j is null", (text) => {
  expect(canonicalHost(text)).toBeNull();
});

test.each([
  ["api.example.com", "api.example.com", 443, true],
  ["*.example.com", "a.b.example.com", 443, true],
  ["Example.com:22", "example.com", 22, true],
  ["[2001:db8::1]:8443", "2001:db8::1", 8443, true],
  ["api.example.com", "api.example.com", 80, false],
  ["api.example.com", "x.api.example.com", 443, false],
  ["*.example.com", "example.com", 443, false],
  ["*.example.com", "evilexample.com", 443, false],
])("an allow list with %s allows %s, port %i: %s", (entry, host, port, isAllowed) => {
  const parsed = parseAllowEntry(entry);
  expect(typeof parsed !== "string" && isFor(parsed, host, port)).toBe(isAllowed);
});

test('an entry "… private" of an allow list permits a host in a private network', () =>
  expect(parseAllowEntry("10.0.0.7:5432 private")).toEqual({
    host: "10.0.0.7",
    isWildcard: false,
    port: 5432,
    isPrivate: true,
  }));

test.each(["*", "*.10.0.0.1", "https://example.com", "example.com:0", "example.com:65536"])(
  "an allow list rejects %j with a reason",
  (entry) => {
    expect(parseAllowEntry(entry)).toContain(JSON.stringify(entry));
  },
);

test("the presets of an allow list have valid hosts only", () => {
  const entries = Object.values(networkPresets).flat();
  expect(entries.map(parseAllowEntry).filter((parsed) => typeof parsed === "string")).toEqual([]);
  expect(allowedHosts(Object.keys(networkPresets))).toHaveLength(entries.length);
});
