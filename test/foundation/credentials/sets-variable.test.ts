import { expect, it } from "vitest";
import { setsVariable } from "../../../src/foundation/credentials/stage-credentials.ts";

it.each([
  ["github_token", "GITHUB_TOKEN", true],
  ["github_token", "GH_TOKEN", true],
  ["github_token:work", "GITHUB_TOKEN_WORK_TOKEN", true],
  ["github_token", "GITHUB_TOKENS", false],
  ["git_ssh", "GIT_SSH_COMMAND", true],
  ["git_ssh", "GIT_AUTHOR_NAME", true],
  ["aws", "AWS_PAGER", false],
  ["my-db", "MY_DB_PASSWORD", true],
  ["my-db", "DATABASE", false],
])("a run with %s may have %s from it: %s", (reference, variable, expected) => {
  expect(setsVariable(reference, variable)).toBe(expected);
});
