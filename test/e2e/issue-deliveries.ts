import { createHmac, randomUUID } from "node:crypto";
import type { LiveProject } from "../helpers/live-project.ts";

const secret = "the-secret-of-the-deliveries";

/** A project of `examples/pull-request` whose deliveries are signed by this secret. */
export function storeIssueSecret(project: LiveProject): Promise<unknown> {
  return project.store("github_webhook_secret/default/secret", secret);
}

/** Delivers an opened issue that quotes the secret. Returns the receipt's id. */
export async function deliverIssue(project: LiveProject): Promise<string> {
  const body = JSON.stringify({
    action: "opened",
    issue: { number: 1, title: "It is broken" },
    repository: { full_name: "Codertocat/Hello-World" },
    sender: { login: "somebody" },
    hook: { config: { secret: "hush", note: `signed with ${secret}` } },
  });
  const headers = {
    "content-type": "application/json",
    "x-github-event": "issues",
    "x-github-delivery": randomUUID(),
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
  const url = `${project.scheduler.url}/webhooks/github`;
  const answer = await fetch(url, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { receiptId: string }).receiptId;
}
