import type { AgentConfig } from "../../../streams/agent-config.ts";
import { attributesOf } from "../../../streams/triggers/attributes.ts";
import { keyOf, namesIn } from "../../../streams/triggers/key-template.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import {
  parseGitAddress,
  refProblem,
  type GitAddress,
} from "../../foundation/contracts/git-names.ts";
import { Problem } from "../../foundation/errors.ts";

/** The repository and the ref that a run works on. */
export interface CheckoutPlan {
  readonly url: string;
  readonly address: GitAddress;
  /** Null for the default branch. */
  readonly ref: string | null;
  /** Commits of history; 0 for all. */
  readonly depth: number;
  /** Maximum size of the mirror. */
  readonly maxBytes: number;
  /** Name of the checkout's folder in the working directory. */
  readonly dir: string;
}

/** Folders of a run that a repository could be called like. */
const taken =
  /^(\..*|out|memory|shared|scripts|references|assets|webhook-payload|webhook-deliveries)$/;

/** The plan for a run; null without `[workspace]`. Throws a Problem if its trigger leads to no allowed repository or ref. */
export function checkoutPlan({ agent, item }: RunRequest): CheckoutPlan | null {
  const { workspace } = agent;
  // A run of an earlier version has no such key.
  if (!workspace) return null;
  const attributes = attributesOf(item.trigger);
  const url = filled(workspace.git, attributes);
  if (url === null)
    throw refused(agent, `the trigger has no ${missing(workspace.git, attributes)}`);
  const address = parseGitAddress(url);
  if (address === null) throw refused(agent, `${shown(url)} is not the address of a repository`);
  if (url !== workspace.git && !isListed(address.path, workspace.repos)) {
    const hint = `If its runs may work on it, add "${address.path}" to workspace.repos.`;
    throw refused(agent, `the repository ${shown(address.path)} is not listed`, hint);
  }
  const ref = workspace.ref === null ? null : filled(workspace.ref, attributes);
  const problem = ref === null ? null : refProblem(ref);
  if (problem !== null) throw refused(agent, `the ref ${shown(ref ?? "")} ${problem}`);
  const name = address.path.split("/").at(-1) ?? "";
  const dir = taken.test(name) ? `repo-${name.replace(/^\.+/, "")}` : name;
  return { url, address, ref, depth: workspace.depth, maxBytes: workspace.maxBytes, dir };
}

/** The text with the values of attributes; null if one is missing. */
function filled(text: string, attributes: Readonly<Record<string, string>>): string | null {
  return /[{}]/.test(text) ? keyOf(text, attributes) : text;
}

function missing(text: string, attributes: Readonly<Record<string, string>>): string {
  return namesIn(text)
    .filter((name) => attributes[name] === undefined)
    .join(" and no ");
}

/** Compares as written: hosts may have repositories that differ in case only. */
function isListed(path: string, repos: readonly string[]): boolean {
  const parts = path.split("/");
  return repos.some((repo) => {
    const wanted = repo.replace(/\.git$/, "").split("/");
    const isSame = wanted.every((name, index) => name === "*" || name === parts[index]);
    return isSame && wanted.length === parts.length;
  });
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

function refused({ name }: AgentConfig, why: string, hint?: string): Problem {
  return new Problem("workspace", `agents/${name}/config.toml [workspace]: ${why}`, {
    hint,
    status: 403,
  });
}
