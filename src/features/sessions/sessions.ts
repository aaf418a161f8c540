import { Readable } from "node:stream";
import { sessionProgram } from "../../../streams/harnesses.ts";
import { isRetried } from "../../../streams/vocabulary.ts";
import type { TreeEntry, TreeUpload } from "../../foundation/contracts/file-tree.ts";
import type { TreeRun, TreeService } from "../../foundation/contracts/tree-service.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { Problem } from "../../foundation/errors.ts";
import type { Blobs } from "../../foundation/files/blobs.ts";
import { wholeLines } from "../../foundation/logs/read-lines.ts";
import type { WritesOf } from "../../foundation/scheduler/commit-events.ts";
import type { SessionFile, SessionStore } from "./session-store.ts";

interface SessionDeps {
  readonly store: SessionStore;
  readonly blobs: Pick<Blobs, "stage" | "read">;
  readonly redactValue: Redactor["redactValue"];
  /** Epoch ms. */
  readonly now: () => number;
}

const mebibyte = 1024 * 1024;
const limits = {
  bytes: 16 * mebibyte,
  fileBytes: 16 * mebibyte,
  entries: 200,
  depth: 6,
  nameBytes: 255,
};
/** A longer line is no message. */
const longestLine = 4 * mebibyte;

/** Sends the session that a run continues into it, and keeps the one that it leaves: lines of JSON, redacted by value. */
export function createSessions({ store, blobs, redactValue, now }: SessionDeps) {
  const write = async ({ request }: TreeRun, _name: string, entries: TreeUpload) => {
    const files: SessionFile[] = [];
    for await (const { path, content } of entries) {
      if (!path.endsWith(".jsonl")) continue;
      const { hash, bytes } = await blobs.stage(redactedLines(content, redactValue), null);
      files.push({ path, hash, bytes });
    }
    const isStored = files.length > 0 && (await store.put(request, files, now()));
    return { kept: isStored ? files.length : 0, problems: [] };
  };
  const trees: TreeService = {
    treesOf: ({ agent, instanceId }) => {
      const program = sessionProgram(agent.harness);
      if (program === null) return [];
      const get = store.continued(instanceId) !== null;
      return [{ name: "session", path: program.folder, get, put: true, limits }];
    },
    read: ({ instanceId }) => {
      const earlier = store.continued(instanceId)?.continues ?? "";
      const text = store.early(earlier);
      if (text !== null) return Promise.resolve(entriesOf([entry("session.jsonl", text)]));
      const files = store.find(earlier)?.files;
      return Promise.resolve(
        files
          ? entriesOf(
              files.map((file) => ({
                ...file,
                isExecutable: false,
                content: blobs.read(file.hash),
              })),
            )
          : null,
      );
    },
    write,
  };
  /** A run that is tried again begins with the session before it, since it repeats its work. */
  const onEvent: WritesOf = (event) =>
    event.type === "finished"
      ? () => store.settle(event, !isRetried(event.item, event.end))
      : undefined;
  return { trees, onEvent };
}

function entry(path: string, text: string): TreeEntry {
  const content = Buffer.from(text);
  return { path, bytes: content.length, isExecutable: false, content: Readable.from([content]) };
}

async function* entriesOf(entries: readonly TreeEntry[]): AsyncGenerator<TreeEntry> {
  yield* entries;
}

/** Redacted by value, so that a secret can't break the JSON, and ends of strings stay whole. */
async function* redactedLines(
  content: AsyncIterable<Buffer>,
  redactValue: Redactor["redactValue"],
): AsyncGenerator<Buffer> {
  const redacted = (text: string) => Buffer.from(`${JSON.stringify(redactValue(parsed(text)))}\n`);
  let rest = Buffer.alloc(0);
  for await (const chunk of content) {
    const data = Buffer.concat([rest, chunk]);
    const lines = wholeLines(data, 0);
    for (const { text } of lines) if (text.trim() !== "") yield redacted(text);
    rest = data.subarray(lines.at(-1)?.end ?? 0);
    if (rest.length > longestLine) throw malformed(`has a line of more than ${longestLine} bytes`);
  }
  if (rest.length > 0) yield redacted(rest.toString("utf8"));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed("has a line that is not JSON");
  }
}

function malformed(why: string): Problem {
  return new Problem("malformed", `a file of the session ${why}`);
}
