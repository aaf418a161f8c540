import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { commandAgents } from "../helpers/command-agents.ts";
import type { LiveProject } from "../helpers/live-project.ts";

const secret = "the-secret-of-the-deliveries";

/**
 * A project that is not started: `worker` notes the numbers of its deliveries in the file `ran`, `asker` returns the
 * answer of a person.
 */
export async function storyProject(
  more: (dir: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<LiveProject> {
  const project = await commandAgents((dir) => ({
    worker: `sed -n 's/.*"n": *\\([0-9]*\\).*/\\1/p' "$AL_PAYLOAD_FILE" >> '${dir}/ran'`,
    asker: `al-return "$(al-ask "Deploy 1.4?" --choice yes --choice no)"`,
    ...more(dir),
  }));
  await project.append("agents/worker/config.toml", '[[webhooks]]\nsource = "github"\n');
  const source = '[webhooks.github]\ntype = "github"\ncredential = "default"\n';
  await project.append("config.toml", source);
  await project.store("github_webhook_secret", { secret });
  return project;
}

/** Delivers an issue with this number, as GitHub does, signed by the source's secret or another one. */
export async function deliver(
  { scheduler }: LiveProject,
  n: number,
  key = secret,
): Promise<readonly [status: number, answer: unknown]> {
  const body = Buffer.from(JSON.stringify({ action: "opened", n }));
  const options = { event: "issues", id: `delivery-${n}` };
  const headers = signDelivery("github", key, body, Date.now(), options);
  const answer = await fetch(`${scheduler.url}/webhooks/github`, { method: "POST", headers, body });
  return [answer.status, await answer.json()];
}

/** The answer to a delivery that starts the agent. */
export const taken = [200, { matched: [{ agent: "worker" }] }];
