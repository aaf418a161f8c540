import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { isCommitHash } from "../../foundation/contracts/git-names.ts";
import { ifMissing, Problem } from "../../foundation/errors.ts";
import { gitReason, runGit } from "../../foundation/files/run-git.ts";
import type { CheckoutPlan } from "./checkout-plan.ts";
import { boundary, Damaged, storedPack, type CommitPack, type Repository } from "./packs.ts";

/** Options of a fetch. */
export interface FetchOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Maximum size of the whole mirror. */
  readonly maxBytes: number;
}

/** How long git may take to list refs, and for anything else, in ms. */
const listMs = 60_000;
const workMs = 15 * 60_000;
/** With more packs than this, a fetch joins the small ones. */
const manyPacks = 32;

/**
 * Settings beside the usual ones. Objects of a repository are checked as they arrive, but for three harmless
 * faults of old programs. Threads and memory are bounded; deltas are reused and not searched.
 */
const settings = [
  "fetch.fsckObjects=true",
  "fetch.fsck.badTimezone=ignore",
  "fetch.fsck.missingSpaceBeforeDate=ignore",
  "fetch.fsck.zeroPaddedFilemode=ignore",
  "fetch.writeCommitGraph=false",
  "pack.threads=1",
  "pack.window=0",
  "pack.windowMemory=32m",
  "pack.deltaCacheSize=32m",
  "pack.compression=1",
  "core.packedGitLimit=256m",
];

/**
 * Brings the mirror in `dir` up to date for a plan, and packs its commit. A damaged or too large mirror is made anew once.
 * Rejects with a Problem. The repository is never checked out here.
 */
export async function packCommit(
  dir: string,
  plan: CheckoutPlan,
  options: FetchOptions,
): Promise<CommitPack> {
  const made = existsSync(join(dir, "repo.git"));
  try {
    return await tryPack(dir, plan, options);
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    if (!made || options.signal.aborted) throw failed(plan, error.message);
    await rm(dir, { recursive: true, force: true });
    return await tryPack(dir, plan, options).catch((again: unknown) => {
      throw again instanceof Damaged ? failed(plan, again.message) : again;
    });
  }
}

async function tryPack(dir: string, plan: CheckoutPlan, options: FetchOptions) {
  const repository = await openRepository(dir, plan, options);
  const { commit, branch } = await freshCommit(repository, plan);
  await utimes(dir, new Date(), new Date());
  const shallow = await boundary(repository, commit, plan.depth);
  return {
    commit,
    branch,
    shallow,
    ...(await storedPack(repository, commit, plan.depth, shallow)),
  };
}

async function openRepository(
  dir: string,
  { address: { protocol } }: CheckoutPlan,
  { env, signal, maxBytes }: FetchOptions,
): Promise<Repository> {
  const gitDir = join(dir, "repo.git");
  const usual = { gitDir, env, signal, settings, protocols: protocol, timeoutMs: workMs };
  const git: Repository["git"] = (args, more = {}, input) =>
    runGit(args, { ...usual, maxFileBytes: maxBytes, hints, ...more }, input);
  if (!existsSync(join(gitDir, "HEAD"))) {
    await rm(gitDir, { recursive: true, force: true });
    await mkdir(gitDir, { recursive: true, mode: 0o700 });
    const made = await git(["init", "--quiet", "--bare", "--template="]);
    if (!made.ok) throw new Damaged(gitReason(made.stderr));
  }
  return { dir, maxBytes, git };
}

const hints = {
  slow: "Is the host reachable, and the repository not larger than expected?",
  large: "The repository may be malicious.",
};

interface Found {
  readonly commit: string;
  readonly branch: string | null;
}

/** The plan's commit, fetched if the mirror lacks it. */
async function freshCommit(repository: Repository, plan: CheckoutPlan): Promise<Found> {
  const { ref } = plan;
  const isHash = ref !== null && isCommitHash(ref);
  if (isHash && (await has(repository, ref))) return { commit: ref, branch: null };
  const listed = await listRefs(repository, plan);
  const wanted = isHash ? { name: ref, id: ref } : listed;
  if (!(await has(repository, wanted.id))) await fetch(repository, plan, wanted.name);
  const parsed = await repository.git([
    "rev-parse",
    "--verify",
    "--quiet",
    `${wanted.id}^{commit}`,
  ]);
  const commit = parsed.stdout.toString().trim();
  if (!parsed.ok || !isCommitHash(commit)) throw new Damaged(`${wanted.name} is not a commit`);
  const [, branch = null] = /^refs\/heads\/(.+)$/.exec(wanted.name) ?? [];
  return { commit, branch };
}

async function has({ git }: Repository, id: string): Promise<boolean> {
  return (await git(["cat-file", "-e", id])).ok;
}

interface ListedRef {
  /** Full. */
  readonly name: string;
  readonly id: string;
}

/** Asks the host for the plan's ref: in this order a full ref, a branch, a tag. */
async function listRefs({ git }: Repository, plan: CheckoutPlan): Promise<ListedRef> {
  const { url } = plan;
  const ref = plan.ref !== null && isCommitHash(plan.ref) ? null : plan.ref;
  const names = namesOf(ref);
  const listed = await git(["ls-remote", "--symref", "--", url, ...names], { timeoutMs: listMs });
  if (!listed.ok) throw failed(plan, reasonOfHost(listed.stderr));
  const lines = listed.stdout
    .toString()
    .split("\n")
    .map((line) => line.split("\t"));
  const idOf = (name: string) =>
    lines.find(([id = "", at]) => at === name && isCommitHash(id))?.[0];
  const [head = ""] = lines.find(([to = "", at]) => at === "HEAD" && to.startsWith("ref: ")) ?? [];
  const target = ref === null ? head.replace("ref: ", "") : "";
  for (const name of names) {
    const id = idOf(name);
    if (id !== undefined) return { name: target || name, id };
  }
  if (ref === null) throw failed(plan, "it has no commit yet");
  throw failed(plan, `it has no branch or tag ${JSON.stringify(ref)}`);
}

/** Why a host did not list its refs. A host hides that a repository is private. */
function reasonOfHost(stderr: string): string {
  const isLocked = /could not read Username|Authentication failed|Permission denied/.test(stderr);
  const reason = gitReason(stderr);
  return isLocked ? `it does not exist, or the login may not read it (${reason})` : reason;
}

function namesOf(ref: string | null): readonly string[] {
  if (ref === null || ref === "HEAD") return ["HEAD"];
  return ref.startsWith("refs/") ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
}

/** Fetches all branches, and the wanted ref or commit if it is not one of them. */
async function fetch(repository: Repository, plan: CheckoutPlan, wanted: string): Promise<void> {
  const { git, maxBytes, dir } = repository;
  const isBranch = wanted.startsWith("refs/heads/");
  const refs = ["+refs/heads/*:refs/heads/*", ...(isBranch ? [] : [`+${wanted}:refs/al/wanted`])];
  const packDir = join(dir, "repo.git", "objects", "pack");
  // A git that was killed leaves its unfinished packs.
  for (const name of await readdir(packDir).catch(ifMissing([])))
    if (name.startsWith("tmp_")) await rm(join(packDir, name), { force: true });
  const used = await sizeOf(dir);
  const args = ["fetch", "--quiet", "--prune", "--no-tags", "--no-recurse-submodules"];
  const quiet = ["--no-auto-maintenance", "--no-write-fetch-head", "--", plan.url, ...refs];
  const left = Math.max(maxBytes - used, 64 * 1024);
  const { ok, stderr } = await git([...args, ...quiet], { maxFileBytes: left });
  if (!ok && /File too large/i.test(stderr)) {
    const reason = `it is larger than ${maxBytes} bytes, the maxBytes of [workspace]`;
    // Packs of many fetches may take much more than one.
    throw used > maxBytes / 2 ? new Damaged(reason) : failed(plan, reason);
  }
  if (!ok) {
    const reason = gitReason(stderr);
    throw (await isDamaged(repository, stderr)) ? new Damaged(reason) : failed(plan, reason);
  }
  const packs = await readdir(packDir);
  if (packs.length > 2 * manyPacks) await git(["repack", "--quiet", "--geometric=2", "-d"]);
}

/** Whether the mirror itself is why a fetch failed. A host must not cause a new mirror by what it sends. */
async function isDamaged({ git }: Repository, stderr: string): Promise<boolean> {
  if (/No space left/i.test(stderr)) return false;
  if (/\.lock\b/.test(stderr)) return true;
  return !(await git(["fsck", "--connectivity-only", "--no-dangling", "--no-progress"])).ok;
}

/** Bytes of all files below a directory. */
async function sizeOf(dir: string): Promise<number> {
  const names = await readdir(dir, { recursive: true }).catch(ifMissing([]));
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(dir, name)).catch(ifMissing(null)))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Git's words hold the address, and texts of the host. */
const maxReason = 300;

function failed({ url }: CheckoutPlan, reason: string): Problem {
  const text = reason.replaceAll(/\p{C}/gu, " ").slice(0, maxReason);
  const hint =
    "Check [workspace] of the agent, and whether its credential may read the repository.";
  return new Problem("workspace", `${url} can't be checked out: ${text}`, { hint, status: 502 });
}
