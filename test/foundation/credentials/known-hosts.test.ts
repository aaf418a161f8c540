import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { usualKnownHosts } from "../../../src/foundation/credentials/service-types.ts";

/** As the hosts publish them. */
const fingerprints = {
  "github.com ssh-ed25519": "+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU",
  "github.com ecdsa-sha2-nistp256": "p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM",
  "gitlab.com ssh-ed25519": "eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8",
  "gitlab.com ecdsa-sha2-nistp256": "HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw",
  "bitbucket.org ssh-ed25519": "ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM",
  "bitbucket.org ecdsa-sha2-nistp256": "FC73VB6C4OQLSCrjEayhMp9UMxS97caD/Yyi2bhW/J0",
  "codeberg.org ssh-ed25519": "mIlxA9k46MmM6qdJOdMnAQpzGxF4WIVVL+fj+wZbw0g",
  "codeberg.org ecdsa-sha2-nistp256": "T9FYDEHELhVkulEKKwge5aVhVTbqCW0MIRwAfpARs/E",
};

it("the shipped host keys have the fingerprints that the hosts publish", () => {
  const found = usualKnownHosts.split("\n").map((line) => {
    const [host = "", type = "", key = ""] = line.split(" ");
    const digest = createHash("sha256").update(Buffer.from(key, "base64")).digest("base64");
    return [`${host} ${type}`, digest.replace(/=+$/, "")];
  });
  expect(Object.fromEntries(found)).toEqual(fingerprints);
});
