import { setTimeout as wait } from "node:timers/promises";
import { githubLevels, type GithubAppScope } from "../../../streams/agent-config.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { Problem } from "../../foundation/errors.ts";
import { appJwt, askGithub, GithubRefusal, type GithubAnswer, type GithubApp } from "./app-api.ts";

/** A token of an installation. */
export interface InstallationToken {
  readonly token: string;
  /** Epoch ms. */
  readonly until: number;
}

/** The scope of a run's tokens: the repositories that its agent lists, else that of its trigger. Throws a Problem. */
export function scopeOf({ agent, item: { trigger } }: RunRequest): GithubAppScope {
  const { permissions = {}, repos = [] } = agent.githubApp ?? {};
  if (repos.length > 0) return { permissions, repos };
  const { type, repo } = trigger.kind === "webhook" ? trigger.event : { type: "", repo: null };
  if (type === "github" && repo !== null) return { permissions, repos: [repo] };
  throw new Problem(
    "github_app",
    `agents/${agent.name}/config.toml [githubApp]: the run's trigger names no repository of GitHub`,
    { hint: 'List the repositories, e.g. repos = ["acme/website"].', status: 403 },
  );
}

/**
 * Mints a token for repositories of one owner. Rejects with a Problem that names the repository or the permission that
 * the app lacks. https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
 */
export async function mintToken(
  app: GithubApp,
  { repos, permissions }: GithubAppScope,
  now: number,
): Promise<InstallationToken> {
  const token = appJwt(app, now);
  const installation = await installationOf(app, repos[0] ?? "", token);
  const path = `/app/installations/${String(installation.id)}/access_tokens`;
  const body = { repositories: repos.map((repo) => repo.split("/")[1]), permissions };
  const { token: minted, expires_at: until } = await askGithub(app, {
    method: "POST",
    path,
    token,
    body,
  }).catch((error: unknown) => {
    if (!(error instanceof GithubRefusal) || error.answered !== 422) throw error;
    const lacking = lackingPermissions(permissions, installation.permissions);
    throw lacking.length > 0
      ? lacksPermission(app, lacking, repos)
      : notInstalled(app, repos.join(", "), error);
  });
  if (typeof minted !== "string" || typeof until !== "string")
    throw new GithubRefusal(`${app.apiUrl}${path} answered without a token`, "Check api_url.", 201);
  await untilKnown(app, minted);
  return { token: minted, until: Date.parse(until) };
}

/** Pauses before each look for a new token, in ms: not all of GitHub's servers know it at once. */
const pauses = [0, 500, 1_000, 2_000];

async function untilKnown(app: GithubApp, token: string): Promise<void> {
  for (const pause of pauses) {
    await wait(pause);
    const isKnown = await askGithub(app, {
      path: "/installation/repositories?per_page=1",
      token,
    }).then(
      () => true,
      (error: unknown) => !(error instanceof GithubRefusal) || error.answered !== 401,
    );
    if (isKnown) return;
  }
}

/** The installation of the app on a repository. */
export async function installationOf(
  app: GithubApp,
  repo: string,
  token: string,
): Promise<GithubAnswer> {
  return askGithub(app, { path: `/repos/${repo}/installation`, token }).catch((error: unknown) => {
    const isOther = !(error instanceof GithubRefusal) || error.answered !== 404;
    if (isOther || error.said === "Integration not found") throw error;
    throw notInstalled(app, repo, error);
  });
}

/** Permissions that are wanted and not granted, as `contents: write`. */
export function lackingPermissions(
  wanted: GithubAppScope["permissions"],
  granted: unknown,
): readonly string[] {
  const levels: readonly unknown[] = githubLevels;
  const given = (granted ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(wanted)
    .filter(([name, level]) => levels.indexOf(given[name]) < levels.indexOf(level))
    .map(([name, level]) => `${name}: ${level}`);
}

function lacksPermission(
  { id, name }: GithubApp,
  lacking: readonly string[],
  repos: readonly string[],
): GithubRefusal {
  const message = `the GitHub App ${id} (${name}) lacks the permission ${lacking.join(", ")} at ${repos.join(", ")}`;
  const hint =
    "Grant it on the app's page and accept it on the installation's page, or take it out of [githubApp].permissions.";
  return new GithubRefusal(message, hint, 422);
}

function notInstalled({ id, name }: GithubApp, repos: string, { answered, said }: GithubRefusal) {
  const message = `the GitHub App ${id} (${name}) is not installed on ${repos}`;
  const hint =
    'Add the repository to the installation, with "Install App" on the app\'s page, or change [githubApp].repos.';
  return new GithubRefusal(message, hint, answered, said);
}

/** Revokes a token at once. https://docs.github.com/en/rest/apps/installations#revoke-an-installation-access-token */
export async function revokeToken(app: GithubApp, token: string): Promise<void> {
  await askGithub(app, { method: "DELETE", path: "/installation/token", token });
}
