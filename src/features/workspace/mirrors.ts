import { createHash } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { oneAtATime } from "../../foundation/contracts/one-at-a-time.ts";
import { ifMissing, Problem } from "../../foundation/errors.ts";
import type { CheckoutPlan } from "./checkout-plan.ts";
import { packCommit, type FetchOptions } from "./mirror.ts";
import type { CommitPack } from "./packs.ts";

/**
 * Bare mirrors of repositories, a folder each below `.al/mirrors`. A mirror has one task at a time; an aborted caller stops
 * waiting.
 */
export function createMirrors(projectDir: string) {
  const root = join(projectDir, ".al", "mirrors");
  const queues = new Map<string, ReturnType<typeof oneAtATime>>();
  const inTurn = <T>(name: string, task: () => Promise<T>): Promise<T> => {
    const queue = queues.get(name) ?? oneAtATime();
    queues.set(name, queue);
    return queue(task);
  };
  return {
    /**
     * Packs the commit of a plan. `use` gets the pack, and has opened its files when it resolves. Rejects with a Problem.
     */
    pack: <T>(
      plan: CheckoutPlan,
      options: FetchOptions,
      use: (pack: CommitPack) => Promise<T>,
    ): Promise<T> => {
      const name = createHash("sha256").update(plan.url).digest("hex").slice(0, 32);
      const { signal } = options;
      return withdrawn(
        signal,
        inTurn(name, async () => {
          if (signal.aborted) throw interrupted();
          return use(await packCommit(join(root, name), plan, options));
        }),
      );
    },
    /** Removes mirrors that were last used before `before`, epoch ms. */
    removeUnused: async (before: number): Promise<void> => {
      for (const name of await readdir(root).catch(ifMissing([]))) {
        await inTurn(name, async () => {
          const dir = join(root, name);
          if ((await stat(dir)).mtimeMs < before) await rm(dir, { recursive: true, force: true });
        });
      }
    },
  };
}

function interrupted(): Problem {
  return new Problem("interrupted", "the run ended before its checkout");
}

/** Rejects as soon as the signal aborts. */
function withdrawn<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(interrupted());
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
