import { Problem } from "../../../foundation/errors.ts";
import { valueAt } from "../../../../streams/where.ts";
import { isStandardSecret } from "../signature.ts";
import { rows, targetOf, type HookApi } from "./hook-api.ts";

/** The key of the API for each `object_kind`. */
const keys: Readonly<Record<string, string>> = {
  push: "push_events",
  tag_push: "tag_push_events",
  issue: "issues_events",
  merge_request: "merge_requests_events",
  note: "note_events",
  pipeline: "pipeline_events",
  build: "job_events",
  wiki_page: "wiki_page_events",
  deployment: "deployment_events",
  release: "releases_events",
  emoji: "emoji_events",
  milestone: "milestone_events",
  feature_flag: "feature_flag_events",
  access_token: "resource_access_token_events",
};

/** https://docs.gitlab.com/api/project_webhooks/; GitLab sends no ping, and its test sends a real event. */
export const gitlabHooks: HookApi = {
  credential: "gitlab_token",
  address: "https://gitlab.com/api/v4",
  target: "group/project",
  headers: (token) => ({ "private-token": token }),
  eventsOf: (events) => {
    const unknown = events?.find((event) => !Object.hasOwn(keys, event));
    if (unknown === undefined) return [...(events ?? Object.keys(keys))].sort();
    const hint = `it has ${Object.keys(keys).join(", ")}`;
    throw new Problem("unknown_event", `GitLab's API knows no event "${unknown}"`, hint);
  },
  find: async (call, target, urls) => {
    const hooks = rows(await call("GET", `${hooksOf(target)}?per_page=100`));
    const found = hooks.find((hook) => urls.includes(String(hook.url)));
    if (found === undefined) return null;
    const events = Object.keys(keys).filter((event) => found[keys[event] ?? ""] === true);
    // "disabled" and "temporarily_disabled" follow failed deliveries.
    const isActive = found.alert_status === undefined || found.alert_status === "executable";
    return { id: String(found.id), events: events.sort(), isActive };
  },
  save: async (call, target, id, { url, events, secret }) => {
    if (secret !== null && isStandardSecret(secret)) {
      const hint = "store another secret, or make the webhook on GitLab's page";
      throw new Problem("signing_token", "GitLab's API accepts no signing token (whsec_…)", hint);
    }
    const wanted = Object.entries(keys).map(
      ([event, key]) => [key, events.includes(event)] as const,
    );
    const switches: Record<string, boolean> = Object.fromEntries(wanted);
    const hook = { url, ...switches, ...(secret && { token: secret }) };
    const saved =
      id === null
        ? await call("POST", hooksOf(target), hook)
        : await call("PUT", `${hooksOf(target)}/${id}`, hook);
    return { id: String(valueAt(saved, "id")), secret: null };
  },
};

const hooksOf = (target: string): string =>
  `/projects/${encodeURIComponent(targetOf(gitlabHooks, target, /^[\w.-]+(\/[\w.-]+)+$/))}/hooks`;
