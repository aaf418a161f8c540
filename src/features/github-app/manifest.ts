import type { GithubAppScope } from "../../../streams/agent-config.ts";
import { githubLevels } from "../../../streams/agent-config.ts";
import { askGithub, GithubRefusal } from "./app-api.ts";

/**
 * Events by the permission whose reading they need.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
const eventsOfPermissions = {
  actions: "workflow_job workflow_run",
  checks: "check_run check_suite",
  contents:
    "commit_comment create delete fork gollum push release repository_dispatch workflow_dispatch",
  deployments: "deployment deployment_status",
  discussions: "discussion discussion_comment",
  issues: "issue_comment issues milestone sub_issues",
  merge_queues: "merge_group",
  metadata: "label public repository star watch",
  pull_requests:
    "pull_request pull_request_review pull_request_review_comment pull_request_review_thread",
  secret_scanning_alerts: "secret_scanning_alert",
  security_events: "code_scanning_alert",
  statuses: "status",
  vulnerability_alerts: "dependabot_alert",
} as const;

const permissionOf = new Map(
  Object.entries(eventsOfPermissions).flatMap(([permission, events]) =>
    events.split(" ").map((event) => [event, permission] as const),
  ),
);

type Permissions = GithubAppScope["permissions"];

interface AppNeeds {
  /** One for each agent. */
  readonly permissions: readonly Permissions[];
  /** Events that agents listen to; null for any. */
  readonly events: readonly string[] | null;
}

/** The permissions and events of an app that serves these agents. */
export function appScope({ permissions, events }: AppNeeds) {
  const merged: Record<string, (typeof githubLevels)[number]> = { metadata: "read" };
  const add = (name: string, level: (typeof githubLevels)[number]): void => {
    const before = githubLevels.indexOf(merged[name] ?? "read");
    merged[name] = githubLevels[Math.max(before, githubLevels.indexOf(level))] ?? level;
  };
  for (const [name, level] of permissions.flatMap(Object.entries<Permissions[string]>))
    add(name, level);
  for (const event of events ?? []) add(permissionOf.get(event) ?? "metadata", "read");
  const granted = [...permissionOf].filter(([, name]) => Object.hasOwn(merged, name));
  return { permissions: merged, events: events ?? granted.map(([event]) => event).sort() };
}

/** The address of GitHub's pages for one of its API. */
export function pagesOf(apiUrl: string): string {
  const { protocol, host } = new URL(apiUrl);
  return `${protocol}//${host.replace(/^api\./, "")}`;
}

/** An app that was made from a manifest. */
interface MadeApp {
  readonly id: string;
  /** Address of its page. */
  readonly page: string;
  readonly privateKey: string;
  readonly webhookSecret: string;
  /** Name and address of its own commits. */
  readonly author: { readonly name: string; readonly email: string };
}

/** Exchanges the code of a manifest, once. https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest */
export async function convertManifest(apiUrl: string, code: string): Promise<MadeApp> {
  const path = `/app-manifests/${encodeURIComponent(code)}/conversions`;
  const app = { name: "the new GitHub App", id: "", apiUrl };
  const hint = "The code of a manifest works once, within an hour. Repeat the command.";
  const made = await askGithub(app, { method: "POST", path, token: null, hint });
  const textAt = (name: string): string => {
    const value = made[name];
    if (typeof value === "string" || typeof value === "number") return String(value);
    throw new GithubRefusal(`${apiUrl} made an app without ${name}`, hint, 201);
  };
  return {
    id: textAt("id"),
    page: textAt("html_url"),
    privateKey: textAt("pem"),
    webhookSecret: textAt("webhook_secret"),
    author: await authorOf(app, textAt("slug")),
  };
}

/** The user that GitHub shows as the author of an app's comments. Without its id, it links commits to no picture. */
async function authorOf(app: Parameters<typeof askGithub>[0], slug: string) {
  const name = `${slug}[bot]`;
  const path = `/users/${encodeURIComponent(name)}`;
  const id = await askGithub(app, { path, token: null }).then(
    (user) => `${String(user.id)}+`,
    () => "",
  );
  return { name, email: `${id}${name}@users.noreply.${new URL(pagesOf(app.apiUrl)).hostname}` };
}
