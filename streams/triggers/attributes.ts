import { triggerNames, type Trigger } from "../vocabulary.ts";

/** The attributes of triggers that templates name, with their meanings, in the order of their tables. */
export const attributeMeanings = {
  trigger: "What started it: schedule, webhook, call or manual",
  source: "The webhook source, as in `webhooks.source`",
  event: "The event's type",
  action: "What happened, as in the filter `actions`",
  repository: "The repository or project, as in the filter `repos`",
  number: "Number of the issue, pull request or merge request",
  branch: "The branch, as in the filter `branches`",
  head_sha: "The commit: the head of the pull request or merge request, or of the push",
  author: "Who wrote it, as in the filter `author`",
  sender: "Who caused the event",
  url: "Address of what the event is about",
  caller: "For a call: the calling agent",
  schedule: "The name of the schedule; the short `schedule` has none",
} as const;

export type AttributeName = keyof typeof attributeMeanings;
export const attributeNames = Object.keys(attributeMeanings) as readonly AttributeName[];
/** Values by `AttributeName`; no entry where a trigger carries none. */
export type Attributes = Readonly<Record<string, string>>;

export function attributesOf(trigger: Trigger): Attributes {
  const values = { trigger: triggerNames[trigger.kind], ...ownAttributes(trigger) };
  const entries = Object.entries(values).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

function ownAttributes(trigger: Trigger): Partial<Record<AttributeName, string | number | null>> {
  if (trigger.kind === "webhook") {
    const {
      source,
      event,
      action,
      repo: repository,
      number,
      branch,
      headSha,
      ...rest
    } = trigger.event;
    const { author, sender, url } = rest;
    const head_sha = headSha ?? null;
    return { source, event, action, repository, number, branch, head_sha, author, sender, url };
  }
  if (trigger.kind === "agent-call") return { caller: trigger.caller };
  return trigger.kind === "cron" ? { schedule: scheduleOf(trigger) } : {};
}

function scheduleOf({ schedule }: { kind: "cron"; schedule?: string }): string | null {
  return schedule ?? null;
}
