import {
  isCommitHash,
  mayPush,
  parseGitAddress,
  refProblem,
} from "../../../src/foundation/contracts/git-names.ts";

test.each([
  ["https://github.com/acme/website.git", { protocol: "https", host: "github.com" }],
  ["https://git.acme.com:8443/acme/website", { protocol: "https", host: "git.acme.com:8443" }],
  ["ssh://git@github.com/acme/website.git", { protocol: "ssh", host: "github.com" }],
  ["git@github.com:acme/website.git", { protocol: "ssh", host: "github.com" }],
])("%s is the address of a repository", (text, address) => {
  expect(parseGitAddress(text)).toEqual({ ...address, path: "acme/website" });
});

test.each([
  "https://github.com/acme/website?x",
  "https://github.com/acme/%2e%2e/website",
  "https://github.com/acme/website\n",
  "https://github.com/-acme/website",
  "https://-github.com/acme/website",
  "https://github.com@evil.example/acme/website",
  "-oProxyCommand=id@host:x/y",
  "ssh://-oProxyCommand=id/x/y",
  "git@-host:x/y",
  "file:///srv/x",
  "ext::sh -c id",
])("%j is not the address of a repository", (text) => {
  expect(parseGitAddress(text)).toBeNull();
});

test.each(["main", "feature/x", "v1.2", "refs/pull/7/head", "ünïcode", "a".repeat(250)])(
  "%s is a ref",
  (ref) => expect(refProblem(ref)).toBeNull(),
);

test.each([
  "",
  "-x",
  "--upload-pack=id",
  "a..b",
  "a b",
  "a\u0000b",
  "a\nb",
  "a\u202eb",
  "a~1",
  "a^",
  "a:b",
  "a?",
  "a*",
  "a[b",
  "a\\b",
  "a//b",
  "/a",
  "a/",
  "a.",
  ".a",
  "a/.b",
  "a.lock",
  "a.lock/b",
  "a@{1}",
  "@",
  "a".repeat(251),
])("%j is not a ref", (ref) => expect(refProblem(ref)).not.toBeNull());

test("a commit is a whole hash", () => {
  expect(
    ["a".repeat(40), "a".repeat(64), "a".repeat(39), "g".repeat(40)].map(isCommitHash),
  ).toEqual([true, true, false, false]);
});

test.each<[string, boolean, readonly string[], boolean]>([
  ["refs/heads/al/fix", false, ["al/*"], true],
  ["refs/heads/al/fix/two", false, ["al/*"], true],
  ["refs/heads/main", false, ["al/*"], false],
  ["refs/heads/xal/fix", false, ["al/*"], false],
  ["refs/heads/refs/heads/al/x", false, ["al/*"], false],
  ["refs/tags/al/fix", false, ["al/*"], false],
  ["refs/tags/v1", false, ["refs/tags/v*"], true],
  ["refs/heads/al/fix", true, ["al/*"], false],
  ["refs/heads/al/fix", true, [":al/*"], true],
  ["refs/heads/al/fix", false, [":al/*"], false],
  ["refs/heads/axb", false, ["a.b"], false],
  ["refs/heads/al/\n", false, ["al/x"], false],
  ["refs/heads/al/fix", false, [], false],
])("a push of %s (deletion: %s) with %j is allowed: %s", (ref, isDeletion, entries, allowed) => {
  expect(mayPush({ ref, isDeletion }, entries)).toBe(allowed);
});
