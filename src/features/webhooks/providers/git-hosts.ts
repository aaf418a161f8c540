import { valueAt } from "../../../../streams/where.ts";
import { text } from "../json.ts";
import type { HmacSender } from "../hmac-sender.ts";

const writer = "Only for the writer of the comment, else of the issue or pull request";

/**
 * Gitea: bare hex over the JSON. A form is signed as the JSON in it, so forms are refused.
 * https://docs.gitea.com/usage/repository/webhooks
 */
export const gitea: HmacSender = {
  type: "gitea",
  about: {
    proof: "`X-Gitea-Signature`: HMAC-SHA256 of the raw body",
    note: "Choose the content type `application/json`. The branch of a pull request is its base branch. A tag is not a branch.",
  },
  signature: "x-gitea-signature",
  id: "header:x-gitea-delivery",
  event: "header:x-gitea-event",
  action: "action",
  fields: {
    repository: "repository.full_name",
    number: "issue.number pull_request.number number",
    title: "issue.title pull_request.title release.name",
    body: "comment.body review.content issue.body pull_request.body head_commit.message",
    url: "comment.html_url issue.html_url pull_request.html_url release.html_url compare_url",
    author: "comment.user.login issue.user.login pull_request.user.login pusher.login",
    sender: "sender.login sender.email",
    branch: "pull_request.base.ref ref",
    head_sha: "pull_request.head.sha after sha",
    labels: "issue.labels[].name pull_request.labels[].name",
  },
  meanings: {
    author: writer,
    events: "Event types: issues, issue_comment, pull_request, push and so on",
    actions: "Event actions: opened, closed, label_updated and so on",
  },
  more: {
    assignee: {
      kind: "string",
      meaning: "Only when assigned to this user",
      ignoreCase: true,
      at: "issue.assignees[].login pull_request.assignees[].login",
    },
  },
  read: (payload) => (text(payload, "ref_type") === "tag" ? { branches: [] } : {}),
};

/** Forgejo, which sends Gitea's headers under its own name. https://forgejo.org/docs/latest/user/webhooks/ */
export const forgejo: HmacSender = {
  ...gitea,
  type: "forgejo",
  about: { ...gitea.about, proof: "`X-Forgejo-Signature`: HMAC-SHA256 of the raw body" },
  signature: "x-forgejo-signature",
  id: "header:x-forgejo-delivery",
  event: "header:x-forgejo-event",
};

/**
 * Bitbucket Cloud and Data Center, which sign alike.
 * https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/ and event-payloads/
 * https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html
 */
export const bitbucket: HmacSender = {
  type: "bitbucket",
  about: {
    proof: "`X-Hub-Signature`: HMAC-SHA256 of the raw body",
    note: "For Bitbucket Cloud and Data Center, whose events have different names. A repository of Data Center is `PROJECT/slug`. The branch of a pull request is its target. A tag is not a branch.",
  },
  signature: "x-hub-signature",
  prefix: "sha256=",
  id: "header:x-request-uuid header:x-request-id",
  event: "header:x-event-key",
  exampleEvent: "repo:push",
  pings: ["diagnostics:ping"],
  fields: {
    repository: "repository.full_name",
    number: "pullrequest.id pullRequest.id issue.id",
    title: "pullrequest.title pullRequest.title issue.title",
    body: "comment.content.raw comment.text pullrequest.description pullRequest.description issue.content.raw",
    url: "comment.links.html.href pullrequest.links.html.href pullRequest.links.self.0.href issue.links.html.href repository.links.html.href",
    author:
      "comment.user.nickname comment.author.name pullrequest.author.nickname pullRequest.author.user.name issue.reporter.nickname",
    sender: "actor.nickname actor.account_id actor.name actor.emailAddress",
    branch: "pullrequest.destination.branch.name pullRequest.toRef.displayId changes[].ref.id",
    head_sha:
      "pullRequest.fromRef.latestCommit push.changes.0.new.target.hash changes.0.toHash commit_status.commit.hash",
  },
  meanings: {
    author: writer,
    events:
      "Event types: repo:push, pullrequest:created (Cloud), repo:refs_changed, pr:opened (Data Center) and so on",
    actions: "Last part of the event type: push, created, opened and so on",
  },
  read: (payload) => {
    const [project, slug] = ["project.key", "slug"].map((name) =>
      text(payload, `repository.${name}`, `pullRequest.toRef.repository.${name}`),
    );
    const pushed = valueAt(payload, "push.changes");
    const names = [pushed ?? []].flat().map((change) => {
      return text(change, "new.type") === "branch" ? text(change, "new.name") : null;
    });
    return {
      repository: project && slug ? `${project}/${slug}` : null,
      ...(pushed !== undefined && { branches: names.filter((name) => name !== null) }),
    };
  },
};
