import { z } from "zod";
import { githubLevels, type GithubAppScope } from "../../../streams/agent-config.ts";
import { githubAppType, parseCredentialReference } from "../contracts/credential-reference.ts";
import { agentKey, factOf } from "./config-key.ts";
import { choice, list, pattern, table } from "./fields.ts";
import { describeKeys } from "./format-value.ts";
import type { Diagnostics } from "./validate.ts";

const permissionsError =
  'a table of permissions of the app, e.g. { contents = "write", pull_requests = "write" }';

const githubAppSchema = table({
  permissions: z
    .record(
      pattern(/^[a-z][a-z_]{0,63}$/, 'a permission by GitHub\'s name, e.g. "pull_requests"'),
      choice(githubLevels),
      { error: permissionsError },
    )
    .refine((permissions) => Object.keys(permissions).length > 0, { error: permissionsError })
    .describe(
      'Permissions of the tokens, by [GitHub\'s names](https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app): "read", "write" or "admin". The app must have them; `metadata` can always be read.',
    ),
  repos: list(
    pattern(/^[\w-]+\/\.*[\w-][\w.-]*$/, 'a repository as "owner/name"'),
    'a list of repositories, e.g. ["acme/website"]',
  )
    .optional()
    .meta({
      description: "Repositories that the tokens are for, all of one owner.",
      fallback: "the repository of the GitHub webhook that started the run",
    }),
});

/** An agent's `[githubApp]`. */
export const githubAppKey = agentKey({
  inFile: "githubApp",
  field: githubAppSchema
    .optional()
    .describe(
      "Scope of the tokens that runs get from the credential `github_app`. The scheduler mints a token when a run first needs it, renews it, and revokes it when the run ends.",
    ),
  resolve: (given): GithubAppScope | null =>
    given === undefined ? null : { permissions: given.permissions, repos: given.repos ?? [] },
  value: z
    .object({
      permissions: z.record(z.string(), z.enum(githubLevels)),
      repos: z.array(z.string()).readonly(),
    })
    .nullable(),
  change: (before, after) => describeKeys("githubApp", before, after),
  facts: (scope) =>
    factOf(
      "GitHub App",
      scope === null
        ? []
        : [
            ...Object.entries(scope.permissions).map(([name, level]) => `${name}: ${level}`),
            ...(scope.repos.length === 0 ? ["in the trigger's repository"] : scope.repos),
          ],
    ),
});

interface CheckedTable {
  readonly credentials: readonly string[];
  readonly githubApp?: { readonly repos?: readonly string[] | undefined } | undefined;
}

/** Reports an app without a scope, a scope without an app, and repositories that no single token is for. */
export function checkGithubApp(
  { credentials, githubApp }: CheckedTable,
  diagnostics: Diagnostics,
): void {
  const index = credentials.findIndex(
    (name) => parseCredentialReference(name)?.type === githubAppType,
  );
  if (githubApp === undefined) {
    if (index === -1) return;
    const fix = 'add [githubApp] with permissions = { contents = "read" }';
    return diagnostics.error(
      ["credentials", index],
      `${githubAppType} needs the permissions of its tokens; ${fix}`,
    );
  }
  if (index === -1) {
    const why = `githubApp has no effect, as credentials does not list ${githubAppType}`;
    diagnostics.warn(["githubApp"], `${why}; add it there`);
  }
  const owners = new Set(githubApp.repos?.map((repo) => repo.split("/")[0]?.toLowerCase()));
  if (owners.size < 2) return;
  const why = `githubApp.repos are of ${[...owners].join(" and ")}, and a token is for one owner`;
  diagnostics.error(["githubApp", "repos"], `${why}; leave the others out`);
}
