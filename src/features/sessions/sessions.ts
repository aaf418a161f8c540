import { Readable } from "node:stream";
import { sessionProgram } from "../../../streams/harnesses.ts";
import { isRetried } from "../../../streams/vocabulary.ts";
import { JsonSize } from "../../foundation/contracts/json-size.ts";
import type { TreeService } from "../../foundation/contracts/tree-service.ts";
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

const mostBytes = 16 * 1024 * 1024;
const limits = { bytes: mostBytes, fileBytes: mostBytes, entries: 200, depth: 6, nameBytes: 255 };
/** Limits of a line, which is parsed and redacted in one turn of the event loop: about 100 ms. */
const longestLine = 2 * 1024 * 1024;
const mostValues = 20_000;

/** Sends the session that a run continues into it, and keeps the one that it leaves: lines of JSON, redacted by value. */
export function createSessions({ store, blobs, redactValue, now }: SessionDeps) {
  const contentOf = ({ hash }: SessionFile) => blobs.read(hash);
  const trees: TreeService = {
    treesOf: ({ agent, instanceId }) => {
      const program = sessionProgram(agent.harness);
      if (program === null) return [];
      const get = store.continued(instanceId) !== null;
      return [{ name: "session", path: program.folder, get, put: true, limits }];
    },
    read: ({ instanceId }) => {
      const earlier = store.continued(instanceId) ?? "";
      const text = Buffer.from(store.early(earlier) ?? "");
      const files = store.files(earlier)?.map((file) => ({ ...file, content: contentOf(file) }));
      const content = Readable.from([text]);
      const early = [{ path: "session.jsonl", bytes: text.length, content }];
      const entries = files ?? (text.length > 0 ? early : []);
      const readable = Readable.from(entries.map((entry) => ({ ...entry, isExecutable: false })));
      return Promise.resolve(entries.length === 0 ? null : readable);
    },
    write: async ({ request }, _name, entries) => {
      const files: SessionFile[] = [];
      for await (const { path, content } of entries) {
        if (!path.endsWith(".jsonl")) continue;
        const { hash, bytes } = await blobs.stage(redactedLines(content, redactValue), null);
        files.push({ path, hash, bytes });
      }
      const isStored = files.length > 0 && (await store.put(request, files, now()));
      return { kept: isStored ? files.length : 0, problems: [] };
    },
  };
  /** A run that is tried again begins with the session before it, since it repeats its work. */
  const onEvent: WritesOf = (event) =>
    event.type === "finished"
      ? () => store.settle(event.instanceId, event.agent, !isRetried(event.item, event.end))
      : undefined;
  return { trees, onEvent };
}

/** Redacted by value, so that the lines stay JSON. */
async function* redactedLines(
  content: AsyncIterable<Buffer>,
  redactValue: Redactor["redactValue"],
): AsyncGenerator<Buffer> {
  const redacted = (text: string) =>
    text.trim() === "" ? [] : [Buffer.from(`${JSON.stringify(redactValue(parsed(text)))}\n`)];
  let rest = Buffer.alloc(0);
  for await (const chunk of content) {
    const data = Buffer.concat([rest, chunk]);
    const lines = wholeLines(data, 0);
    yield* lines.flatMap(({ text }) => redacted(text));
    rest = data.subarray(lines.at(-1)?.end ?? 0);
    if (rest.length > longestLine) throw malformed(`is longer than ${longestLine} bytes`);
  }
  yield* redacted(rest.toString("utf8"));
}

function parsed(text: string): unknown {
  const { values } = new JsonSize().push(Buffer.from(text), mostValues);
  if (values > mostValues) throw malformed(`has more than ${mostValues} values`);
  try {
    return JSON.parse(text);
  } catch {
    throw malformed("is not JSON");
  }
}

function malformed(why: string): Problem {
  return new Problem("malformed", `a line of the session ${why}`);
}
