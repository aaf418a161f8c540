import { Readable } from "node:stream";
import { Observable } from "rxjs";
import type { BuildEvent } from "../../../../streams/vocabulary.ts";
import { UserError } from "../../../errors.ts";
import { engineMessage, isUnreachable } from "../engine.ts";
import type { Engine } from "../engine.ts";
import { ndjsonLines } from "./ndjson-lines.ts";
import { packTar } from "./tar.ts";
import type { TarEntry } from "./tar.ts";

/** One image to build. */
export interface Build {
  readonly tag: string;
  /** The folder that becomes the context, its `Dockerfile` among the entries. */
  readonly entries: () => AsyncIterable<TarEntry>;
  readonly labels: Readonly<Record<string, string>>;
}

/** What building reports: its progress, and at the end the image with its id and a name that it has. */
export type ImageEvent =
  | Exclude<BuildEvent, { type: "build-finished" }>
  | { readonly type: "image"; readonly id: string; readonly name: string };

const keptLines = 8;
const longestLine = 200;

/** Lines that begin a step: `Step 3/9 : COPY …`, Podman's `STEP 3/9: COPY …`. */
const step = /^step \d+\/\d+ ?:/i;
const fromStep = /^step \d+\/\d+ ?: ?from /i;

/**
 * Builds an image: `build-started`, one `build-progress` a step, the image's id. Errors with a UserError
 * `build_failed` that holds the last lines, or with what the connection died of. Unsubscribing aborts the build.
 */
export function buildImage(engine: Engine, build: Build): Observable<ImageEvent> {
  return new Observable<ImageEvent>((subscriber) => {
    const abort = new AbortController();
    const report = (event: ImageEvent) => subscriber.next(event);
    report({ type: "build-started", text: `building ${build.tag}` });
    runBuild(engine, build, abort.signal, report).then(
      (id) => {
        report({ type: "image", id, name: build.tag });
        subscriber.complete();
      },
      (error: unknown) => subscriber.error(failed(build.tag, error)),
    );
    return () => abort.abort();
  });
}

async function runBuild(
  engine: Engine,
  { tag, entries, labels }: Build,
  signal: AbortSignal,
  report: (event: ImageEvent) => void,
): Promise<string> {
  const context = Readable.from(packTar(entries()), { objectMode: false });
  const options = { t: tag, labels, rm: true, forcerm: true, abortSignal: signal };
  const answer = await engine.streams().buildImage(context, options);
  await followBuild(answer, tag, report);
  const { Id } = await engine.calls().getImage(tag).inspect();
  return Id;
}

interface BuildLine {
  readonly stream?: string;
  readonly status?: string;
  readonly error?: string;
}

async function followBuild(
  answer: NodeJS.ReadableStream,
  tag: string,
  report: (event: ImageEvent) => void,
): Promise<void> {
  let last: string[] = [];
  let at = "";
  for await (const line of ndjsonLines<BuildLine>(answer)) {
    const said = (line.error ?? line.stream ?? "")
      .split(/[\r\n]+/)
      .filter((text) => text.trim() !== "");
    const texts = said.map((text) => text.trim().replace(/\s+/g, " ").slice(0, longestLine));
    last = [...last, ...texts].slice(-keptLines);
    if (line.error !== undefined) throw buildFailed(tag, last, at);
    for (const text of texts.filter((one) => step.test(one))) {
      at = text;
      report({ type: "build-progress", text });
    }
  }
}

/** `at` is the step that failed. */
function buildFailed(tag: string, lines: readonly string[], at = ""): UserError {
  return new UserError("build_failed", `the image ${tag} could not be built: ${lines.join("\n")}`, {
    hint: fromStep.test(at)
      ? "the image that it begins FROM is not on this engine and can't be pulled: pull or import it, or name another (in the Dockerfile, or as [local].base); saving that builds again"
      : "mend the Dockerfile; saving it builds again",
  });
}

function failed(tag: string, error: unknown): unknown {
  if (error instanceof UserError || isUnreachable(error)) return error;
  return buildFailed(tag, [engineMessage(error)]);
}
