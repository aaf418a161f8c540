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
      "Only for this author: who wrote the comment or review; without one, who opened the issue, pull request or discussion, published the release, caused the workflow run or pushed. Other events have none",
    ignoreCase: true,
  },
  branches: {
    kind: "strings",
    meaning:
      "Only for these branches, by their whole names: the one pushed to, made or deleted; a pull request's base, also in reviews of it; the head of a workflow run, job or check, also one of a fork; that of a commit's status, a merge group, a dispatch or a code scanning alert. Tags, issues and comments on issues and pull requests have none",
  },
  conclusions: {
    kind: "strings",
    meaning: "Only for workflow_run events with these conclusions: success, failure and so on",
  },
  ...commonFilters,
};
