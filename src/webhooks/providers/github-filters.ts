import type { FilterRules } from "../provider.ts";
import { commonFilters } from "./common-filters.ts";

/** Filters of GitHub events. Names of repositories, organisations and users compare without case, as GitHub does. */
export const githubFilters: FilterRules = {
  repos: { kind: "strings", meaning: "Specific repositories, as `owner/name`", ignoreCase: true },
  orgs: {
    kind: "strings",
    meaning: "Specific organizations; a repository's owner counts as one",
    ignoreCase: true,
  },
  org: { kind: "string", meaning: "A single organization", fact: "orgs", ignoreCase: true },
  events: { kind: "strings", meaning: "Event types: issues, pull_request, push and so on" },
  actions: { kind: "strings", meaning: "Event actions: opened, labeled, closed and so on" },
  labels: {
    kind: "strings",
    meaning: "Only when the issue, pull request or discussion has any of these labels",
  },
  assignee: { kind: "string", meaning: "Only when assigned to this user", ignoreCase: true },
  author: {
    kind: "string",
    meaning:
      "Only for this author: who wrote the comment or review the event is about, else the issue or pull request",
    ignoreCase: true,
  },
  branches: {
    kind: "strings",
    meaning:
      "Only for these branches: the one pushed to, a pull request's base, a workflow run's head",
  },
  conclusions: {
    kind: "strings",
    meaning: "Only for workflow_run events with these conclusions: success, failure and so on",
  },
  ...commonFilters,
};
