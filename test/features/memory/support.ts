import { text } from "node:stream/consumers";
import { createMemoryStore } from "../../../src/features/memory/memory-store.ts";
import { createMemories } from "../../../src/features/memory/memory-trees.ts";
import type { MemoryFile } from "../../../src/features/memory/memory.ts";
import { openStore } from "../../../src/features/open-store.ts";
import type { LeftOutFile, TreeUpload } from "../../../src/foundation/contracts/file-tree.ts";
import { createBlobs } from "../../../src/foundation/files/blobs.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import type { MemoryConfig } from "../../../streams/agent-config.ts";
import type { Outcome } from "../../../streams/outcomes.ts";
import type { RunRequest, WorkItem } from "../../../streams/vocabulary.ts";
import { aMemory, anAgent } from "../../helpers/agents.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { manualItem, webhookItem } from "../../foundation/store/support.ts";

/** Texts by their paths. */
export type Texts = Readonly<Record<string, string>>;

interface WorldOptions {
  /** The one that the scheduler knows. */
  readonly secret?: string;
  readonly now?: () => number;
}

/** A delivery by this person. */
export function deliveryBy(author: string | null, agent = "dev"): WorkItem {
  const id = `w-${author ?? ""}-${agent}`;
  const item = webhookItem(id, `r-${id}`, agent);
  if (item.trigger.kind !== "webhook") throw new Error("not a delivery");
  return { ...item, trigger: { ...item.trigger, event: { ...item.trigger.event, author } } };
}

/** A project's store and blobs, and runs by hand. */
export function memoryWorld(
  dir = tempDir(),
  { secret = "swordfish-swordfish", now = Date.now }: WorldOptions = {},
) {
  const store = openStore(dir, now);
  onTestFinished(() => store.close());
  const blobs = createBlobs(dir);
  const memories = createMemories({ store, blobs, redactor: redactorOf(secret) });
  const memory = store.tables(createMemoryStore);
  const textsOf = async (files: readonly MemoryFile[]): Promise<Texts> =>
    Object.fromEntries(
      await Promise.all(files.map(async ({ path, hash }) => [path, await text(blobs.read(hash))])),
    ) as Texts;

  const finished = (request: RunRequest, outcome: Outcome) => ({
    type: "finished" as const,
    agent: request.agent.name,
    at: now(),
    startedAt: 0,
    instanceId: request.instanceId,
    item: request.item,
    end: { outcome, exitCode: 0, reason: null, usage: null },
  });
  return {
    dir,
    store,
    memory,
    blobs,
    memories,
    textsOf,
    /** A run that has begun, with its job prepared. */
    start: async (instanceId: string, options: RunOptions = {}) => {
      const { item = manualItem(instanceId), config = {} } = options;
      const agent = anAgent(item.agent, { memory: aMemory(config) });
      const request = { instanceId, agent, item };
      await store.work.enqueue([item]);
      await store.work.claim(request);
      const { socket } = { socket: { instanceId, tokenHash: "0".repeat(64), dir: "/tmp/none" } };
      await store.channels.add(socket);
      const job = await memories.jobOf(request);
      const run = { instanceId, request };
      const serviceOf = (tree: string) => memories.trees[tree === "memory" ? "memory" : "shared"];
      return {
        job,
        request,
        trees: async () => [
          ...(await memories.trees.memory.treesOf(request)),
          ...(await memories.trees.shared.treesOf(request)),
        ],
        read: async (tree = "memory"): Promise<Texts> => {
          const entries = await serviceOf(tree).read?.(run, tree);
          const found: Record<string, string> = {};
          for await (const { path, content } of entries ?? []) found[path] = await text(content);
          return found;
        },
        write: (texts: Texts, { tree = "memory", ...how }: WriteOptions = {}) =>
          serviceOf(tree).write?.(run, tree, uploadOf(texts, how)),
        end: (outcome: Outcome = "succeeded") => {
          const event = finished(request, outcome);
          return store.work.end(item, event, memories.onEvent(event));
        },
      };
    },
    /** The latest version of a memory. */
    now: async (name = "dev"): Promise<Texts> => textsOf(memory.files(name)),
  };
}

interface RunOptions {
  readonly item?: WorkItem;
  readonly config?: Partial<MemoryConfig>;
}

interface WriteOptions {
  readonly tree?: string;
  readonly leftOut?: readonly LeftOutFile[];
  /** The last line does not arrive. */
  readonly isCut?: boolean;
}

function redactorOf(secret: string) {
  const redactor = createRedactor();
  redactor.add([secret]);
  return redactor;
}

function uploadOf(texts: Texts, { leftOut = [], isCut = false }: WriteOptions): TreeUpload {
  const read = async function* () {
    await Promise.resolve();
    for (const [path, content] of Object.entries(texts)) {
      const bytes = Buffer.from(content);
      yield { path, bytes: bytes.length, isExecutable: false, content: pieces(bytes) };
    }
    if (isCut) throw new Error("the tree is cut");
  };
  return { [Symbol.asyncIterator]: read, leftOut: () => leftOut };
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}
