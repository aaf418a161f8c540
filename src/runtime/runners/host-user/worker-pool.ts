import type { PrewarmedWorker, WorkerKind } from "./prewarmed-worker.ts";

/** Workers that wait for runs, as many of each kind as is wanted. */
export interface WorkerPool {
  /** `each` workers of each of these kinds from now on, and none of others. */
  keep(kinds: readonly WorkerKind[], each: number): void;
  /** One for a run of this kind, which is the caller's from now on; null when there is none. */
  take(kind: WorkerKind): PrewarmedWorker | null;
}

export interface WorkerPoolOptions {
  /** Rejects when it can't be started. */
  readonly start: (kind: WorkerKind) => Promise<PrewarmedWorker>;
  /** Before one that was taken is replaced, so that the next one doesn't start beside the run, in ms. */
  readonly restMs: number;
  /** Between the starts of two, in ms. */
  readonly staggerMs: number;
  /** Before one that failed is replaced, in ms; doubles with each that fails until one is taken or proves itself. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** One that waited for so long before it ended was good, in ms. */
  readonly provenMs: number;
}

export const workerPoolTimes = {
  restMs: 1000,
  staggerMs: 200,
  retryMs: 1000,
  longestRetryMs: 5 * 60_000,
  provenMs: 60_000,
};

/** The workers of one kind. */
interface KindWorkers {
  readonly kind: WorkerKind;
  readonly waiting: PrewarmedWorker[];
  failures: number;
  isStarting: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** A pool that starts one worker at a time and replaces those that are taken or end. It keeps no process alive. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const byKind = new Map<string, KindWorkers>();
  let size = 0;

  const fill = (own: KindWorkers, ms: number) => {
    clearTimeout(own.timer);
    own.timer = setTimeout(() => void startOne(own), Math.max(ms, backOff(own))).unref();
  };
  const backOff = ({ failures }: KindWorkers) =>
    failures === 0 ? 0 : Math.min(options.retryMs * 2 ** (failures - 1), options.longestRetryMs);
  const isWanted = (own: KindWorkers) =>
    byKind.get(keyOf(own.kind)) === own && own.waiting.length < size;

  const startOne = async (own: KindWorkers) => {
    if (own.isStarting || !isWanted(own)) return;
    own.isStarting = true;
    const worker = await options.start(own.kind).catch(() => null);
    own.isStarting = false;
    if (worker === null) own.failures += 1;
    else if (isWanted(own)) put(own, worker);
    else worker.end();
    if (isWanted(own)) fill(own, options.staggerMs);
  };
  const put = (own: KindWorkers, worker: PrewarmedWorker) => {
    const since = performance.now();
    own.waiting.push(worker);
    void worker.over.then(() => {
      const at = own.waiting.indexOf(worker);
      if (at === -1) return;
      own.waiting.splice(at, 1);
      worker.end();
      own.failures = performance.now() - since < options.provenMs ? own.failures + 1 : 1;
      fill(own, 0);
    });
  };
  const endBeyond = (own: KindWorkers, count: number) => {
    for (const worker of own.waiting.splice(count)) worker.end();
  };

  return {
    keep: (kinds, each) => {
      size = each;
      const wanted = new Map(each > 0 ? kinds.map((kind) => [keyOf(kind), kind]) : []);
      for (const [key, own] of byKind) {
        endBeyond(own, wanted.has(key) ? size : 0);
        if (wanted.has(key)) continue;
        clearTimeout(own.timer);
        byKind.delete(key);
      }
      for (const [key, kind] of wanted) {
        const own = byKind.get(key) ?? noWorkers(kind);
        byKind.set(key, own);
        if (isWanted(own)) fill(own, 0);
      }
    },
    take: (kind) => {
      const own = byKind.get(keyOf(kind));
      if (own === undefined) return null;
      let worker = own.waiting.shift();
      while (worker !== undefined && !worker.isGood()) {
        worker.end();
        worker = own.waiting.shift();
      }
      if (worker !== undefined) own.failures = 0;
      fill(own, options.restMs);
      return worker ?? null;
    },
  };
}

/** A process has the network that it was started with: one that is open serves no closed run. */
function keyOf({ user, network }: WorkerKind): string {
  return `${network} ${user}`;
}

function noWorkers(kind: WorkerKind): KindWorkers {
  return { kind, waiting: [], failures: 0, isStarting: false, timer: undefined };
}
