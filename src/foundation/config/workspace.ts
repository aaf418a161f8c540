import { z } from "zod";
import type { Workspace } from "../../../streams/agent-config.ts";
import { templateProblem } from "../../../streams/triggers/key-template.ts";
import { parseGitAddress, refProblem } from "../contracts/git-names.ts";
import { agentKey, factOf } from "./config-key.ts";
import {
  integer,
  list,
  memorySize,
  pattern,
  runCredential,
  sizeBytes,
  table,
  writtenSize,
} from "./fields.ts";
import { describeKeys } from "./format-value.ts";
import type { Diagnostics } from "./validate.ts";

const gitError =
  'the address of a repository, e.g. "https://github.com/acme/website.git", "git@github.com:acme/website.git" or "https://github.com/{repository}.git"';
const refError = 'a branch, tag or commit, or a template such as "{head_sha}"';
const pushError = 'a branch such as "al/*", a full ref such as "refs/tags/*", or ":al/*"';
const cacheError = 'a folder below the home directory of a run, e.g. "~/.npm"';
/** Folders that the run itself writes. */
const ofRun = /^~\/(out|memory|shared|\.credentials|\.credential-texts|webhook-[a-z]+)(\/|$)/;

function isTemplate(text: string): boolean {
  return /[{}]/.test(text);
}

function filled(text: string, value: string): string {
  return text.replaceAll(/\{\w+\}/g, value);
}

/** Whether a text is valid once its attributes have a value. */
function isValid(text: string, problem: (filled: string) => unknown): boolean {
  if (isTemplate(text) && templateProblem(text) !== null) return false;
  return problem(filled(text, "a")) === null;
}

function hostOf(git: string, value: string): string | undefined {
  return parseGitAddress(filled(git, value))?.host;
}

function isCache(path: string): boolean {
  return /^~(\/(?!\.\.?(\/|$))[^/\p{C}\\]+)+$/u.test(path) && !ofRun.test(path);
}

function isPushEntry(entry: string): boolean {
  return refProblem(entry.replace(/^:/, "").replaceAll("*", "a")) === null;
}

const workspaceSchema = table({
  git: z
    .string({ error: gitError })
    .refine((text) => isValid(text, (url) => (parseGitAddress(url) ? null : url)), gitError)
    .refine((text) => hostOf(text, "a") === hostOf(text, "b"), {
      error: `${gitError}; the host is written out`,
    })
    .describe(
      "The repository, over HTTPS or SSH. A template over attributes of the trigger needs `repos`.",
    ),
  repos: list(
    pattern(/^[\w.~-]+(\/([\w.~-]+|\*))+$/, '"owner/name" or "owner/*"'),
    'a list of repositories, e.g. ["acme/website", "acme/*"]',
  )
    .default([])
    .describe(
      "Repositories that a template may become, by their path at the host. `*` represents one name. A trigger with another repository starts no run.",
    ),
  credential: runCredential().optional().meta({
    description:
      "Credential with which the scheduler fetches: `github_token`, `github_app`, `gitlab_token` or `git_ssh`. Runs don't receive it.",
    fallback: "the agent's credential for the host, if it has one",
  }),
  ref: z
    .string({ error: refError })
    .refine((text) => isValid(text, refProblem), refError)
    .optional()
    .meta({
      description:
        "Branch, tag or commit, such as `{head_sha}` or `refs/pull/{number}/head`. A trigger without the attribute gets the default branch.",
      fallback: "the default branch",
    }),
  depth: integer("commits", 0)
    .default(1)
    .describe("Commits of history in the checkout; 0 for all."),
  cache: list(
    z.string({ error: cacheError }).refine(isCache, cacheError),
    'a list of folders, e.g. ["~/.npm"]',
  )
    .max(8, { error: "at most 8 folders" })
    .default([])
    .describe(
      "Folders below a run's home directory whose files the agent's next run receives. They are kept after runs that succeeded. Runs that the text of strangers started can read them only.",
    ),
  push: list(
    z.string({ error: pushError }).refine(isPushEntry, pushError),
    'a list of branches, e.g. ["al/*"]',
  )
    .default(["al/*"])
    .describe(
      'Refs that runs may push with a brokered credential; `*` represents any characters. An entry is a branch, or a full ref such as "refs/tags/*". With a leading ":" it allows the deletion. Other refs are refused.',
    ),
  maxBytes: memorySize()
    .default("2g")
    .describe("Maximum size of the repository's mirror, and of each cache."),
});

/** An agent's `[workspace]`. */
export const workspaceKey = agentKey({
  inFile: "workspace",
  field: workspaceSchema
    .optional()
    .describe(
      "A checkout of a repository in each run, in a folder with the repository's name below the working directory. The scheduler fetches it into a mirror with a credential of its own. Submodules and LFS files are not fetched. No effect on other repositories that a run clones.",
    ),
  resolve: (given): Workspace | null => {
    if (given === undefined) return null;
    const { credential = null, ref = null, maxBytes, ...rest } = given;
    return { ...rest, credential, ref, maxBytes: sizeBytes(maxBytes) };
  },
  written,
  value: z
    .object({
      git: z.string(),
      repos: z.array(z.string()).readonly(),
      credential: z.string().nullable(),
      ref: z.string().nullable(),
      depth: z.int(),
      cache: z.array(z.string()).readonly(),
      push: z.array(z.string()).readonly(),
      maxBytes: z.int(),
    })
    .nullable(),
  change: (before, after) => describeKeys("workspace", written(before), written(after)),
  facts: (given) => factOf("Workspace", given === null ? [] : factsOf(given)),
});

/** The table under the file's keys. */
function written(given: Workspace | null): object | null {
  return given && { ...given, maxBytes: writtenSize(given.maxBytes) };
}

function factsOf({ git, ref, depth, push, cache }: Workspace): readonly string[] {
  const history = depth === 0 ? "whole history" : `depth ${depth}`;
  return [
    git,
    `${ref ?? "default branch"}, ${history}`,
    push.length === 0 ? "no push" : `may push ${push.join(", ")}`,
    ...(cache.length === 0 ? [] : [`keeps ${cache.join(", ")}`]),
  ];
}

interface CheckedTable {
  readonly workspace?: z.output<typeof workspaceSchema> | undefined;
}

/** Reports a template without repositories, repositories without a template, and a cache within another one. */
export function checkWorkspace({ workspace }: CheckedTable, diagnostics: Diagnostics): void {
  if (workspace === undefined) return;
  const { git, repos, cache } = workspace;
  if (isTemplate(git) && repos.length === 0) {
    const why = "workspace.git is a template, so a delivery could choose any repository";
    diagnostics.error(["workspace", "git"], `${why}; list the allowed ones in workspace.repos`);
  }
  if (!isTemplate(git) && repos.length > 0) {
    const why = "workspace.repos has no effect, as workspace.git is not a template";
    diagnostics.warn(["workspace", "repos"], `${why}; leave it out`);
  }
  for (const [index, path] of cache.entries()) {
    const outer = cache.find((other, at) => at !== index && `${path}/`.startsWith(`${other}/`));
    if (outer === undefined) continue;
    const message = `workspace.cache: ${path} is within ${outer}; leave one of them out`;
    return diagnostics.error(["workspace", "cache", index], message);
  }
}
