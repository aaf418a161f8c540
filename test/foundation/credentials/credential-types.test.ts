import { createHash } from "node:crypto";
import { usualKnownHosts } from "../../../src/foundation/credentials/service-types.ts";
import { providers } from "../../../streams/agent-config.ts";
import { parseCredentialReference } from "../../../src/foundation/contracts/credential-reference.ts";
import {
  credentialType,
  credentialTypes,
  secretsOf,
  webhookSecretType,
} from "../../../src/foundation/credentials/credential-types.ts";
import { providerTable } from "../../../src/features/webhooks/providers/table.ts";

test("credential types know the key of every provider that needs one", () => {
  for (const provider of providers.filter((name) => name !== "scripted")) {
    expect(credentialType(`${provider}_key`)?.fields).toHaveProperty("key");
  }
});

test("credential types know the secret of every webhook provider", () => {
  for (const type of providerTable.keys()) {
    expect(credentialType(webhookSecretType(type))?.fields).toHaveProperty("secret");
  }
  expect(webhookSecretType("sentry")).toBe("sentry_client_secret");
  expect(webhookSecretType("discord")).toBe("discord_webhook_secret");
});

/** Variables that credentials set to a field. */
const variables = Object.values(credentialTypes).flatMap(({ fields }) =>
  Object.values(fields).flatMap(({ env }) => env),
);

test("each environment variable is set by one credential type only, and references of types are valid", () => {
  expect(new Set(variables).size).toBe(variables.length);
  for (const type of Object.keys(credentialTypes)) {
    expect(parseCredentialReference(type)).toEqual({ type, instance: "default" });
  }
  expect(credentialType("toString")).toBeNull();
});

test("credential types set variables for files only from their own fields", () => {
  for (const { files, fields, texts } of Object.values(credentialTypes)) {
    for (const { variable, value } of files?.(() => true) ?? []) {
      expect(variables).not.toContain(variable);
      for (const [, field = ""] of value.matchAll(/\{(\w+)\}/g)) {
        expect({ ...fields, ...texts }).toHaveProperty(field);
      }
    }
  }
});

test("credential types separate secret from public fields; an unknown field is a secret", () => {
  const fields = { access_key_id: "AKIA", secret_access_key: "s", region: "eu", other: "o" };
  expect(secretsOf({ type: "aws", fields })).toEqual(["AKIA", "s", "o"]);
  expect(secretsOf({ type: "own", fields: { region: "eu" } })).toEqual(["eu"]);
});

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

test("the bundled SSH host keys have the fingerprints that the hosts publish", () => {
  const found = usualKnownHosts.split("\n").map((line) => {
    const [host = "", type = "", key = ""] = line.split(" ");
    const digest = createHash("sha256").update(Buffer.from(key, "base64")).digest("base64");
    return [`${host} ${type}`, digest.replace(/=+$/, "")];
  });
  expect(Object.fromEntries(found)).toEqual(fingerprints);
});
