/**
 * Signs payload.json as GitHub does and posts it to the project's gateway. The secret is the one that the gateway
 * checks with, from the credential store; it is made when there is none.
 *
 *   node send.mjs [--url http://localhost:8080] [--delivery <id>] [--bad-signature]
 */
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://localhost:8080" },
    delivery: { type: "string", default: randomUUID() },
    "bad-signature": { type: "boolean", default: false },
  },
});

function readSecret() {
  const home = process.env.AL_HOME || join(homedir(), ".almanac");
  const file = join(home, "credentials/github_webhook_secret/default/secret");
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
    console.error(`made the secret ${file}`);
  }
  return readFileSync(file, "utf8").trim();
}

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
function signatureOf(body) {
  const secret = values["bad-signature"] ? "a wrong secret" : readSecret();
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

const body = readFileSync(join(import.meta.dirname, "payload.json"));
try {
  const answer = await fetch(`${values.url}/webhooks/github`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/example",
      "x-github-event": "issues",
      "x-github-delivery": values.delivery,
      "x-hub-signature-256": signatureOf(body),
    },
    body,
  });
  console.log(answer.status, await answer.text());
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  console.error(`error: ${values.url} does not answer (${error.cause?.code ?? error.message})`);
  console.error("hint: start the project first, and give its address with --url");
  process.exitCode = 1;
}
