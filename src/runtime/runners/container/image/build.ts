import { Readable } from "node:stream";
import { Observable } from "rxjs";
import type { BuildEvent } from "../../../../../streams/vocabulary.ts";
import { bytesText } from "../../../../foundation/contracts/format.ts";
import { Problem } from "../../../../foundation/errors.ts";
import { engineMessage, isUnreachable, type Engine } from "../engine.ts";
import { packTar, type TarEntry } from "./archive.ts";
import { lineSplitter } from "../../../wire/lines.ts";

/** One image to build. */
interface Build {
  readonly tag: string;
  /** The context's folder, including its `Dockerfile`. */
  readonly entries: () => AsyncIterable<TarEntry>;
  readonly labels: Readonly<Record<string, string>>;
}

/** Events of a build: its progress, and at the end the image with its id and one of its names. */
export type ImageEvent =
  | Exclude<BuildEvent, { type: "build-finished" }>
  | { readonly type: "image"; readonly id: string; readonly name: string };

const longestText = 200;

/**
 * Builds an image: `build-started`, one `build-progress` per step, the image's id. Errors with a Problem
 * `build_failed` that begins with the failing command's last lines, or with the error of the connection. Unsubscribing
 * aborts the build.
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
  const context = Readable.from(withProgress(packTar(entries()), report), { objectMode: false });
  const options = { t: tag, labels, rm: true, forcerm: true, abortSignal: signal };
  const answer = await engine.streams().buildImage(context, options);
  await followBuild(answer, tag, report);
  const { Id } = await engine.calls().getImage(tag).inspect();
  return Id;
}

/** The size at which sending a context is first reported, and then at each doubling. */
const firstReportBytes = 4 * 1024 * 1024;

async function* withProgress(
  context: AsyncIterable<Uint8Array>,
  report: (event: ImageEvent) => void,
): AsyncGenerator<Uint8Array> {
  let [sent, next] = [0, firstReportBytes];
  for await (const chunk of context) {
    yield chunk;
    sent += chunk.byteLength;
    if (sent < next) continue;
    while (next <= sent) next *= 2;
    report({ type: "build-progress", text: `sending the context: ${bytesText(sent)} so far` });
  }
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
  const log = createBuildLog();
  for await (const { error, stream = "" } of ndjsonLines<BuildLine>(answer)) {
    if (error !== undefined) throw buildFailed(tag, log, error);
    for (const { position, instruction } of log.add(stream)) {
      const text = `Step ${position} : ${instruction}`.slice(0, longestText);
      report({ type: "build-progress", text });
    }
  }
}

/** The command's error comes first: the engine's text is long, and repeats the whole command. */
function buildFailed(tag: string, log: BuildLog, error: string): Problem {
  const step = log.step();
  const [, code] = /returned a non-zero code: (\d+)/.exec(error) ?? [];
  const lines = code === undefined ? [...log.lines(), oneLine(error)] : log.lines();
  const exit = code === undefined ? "failed" : `returned a non-zero code: ${code}`;
  const where = `while the image ${tag} was built`;
  const command =
    step === null
      ? `this happened ${where}`
      : `${step.instruction.slice(0, longestText)} (step ${step.position}) ${exit} ${where}`;
  const hint = adviceFor(step?.instruction ?? "", lines.join("\n"));
  return new Problem("build_failed", [...lines, command].join("\n"), hint);
}

const noRights =
  /permission denied|are you root|must be root|superuser|EACCES|\/apt\/lists\/partial is missing/i;

function adviceFor(instruction: string, output: string): string {
  if (/^from /i.test(instruction)) {
    return "the image that it begins FROM is not on this engine and can't be pulled: pull or import it, or name another (in the Dockerfile, or as [local].base); saving that builds again";
  }
  if (noRights.test(output)) {
    return "put USER root before a command that needs root, and save the Dockerfile to build again";
  }
  return "fix the Dockerfile, and save it to build again";
}

function oneLine(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, " ")
    .slice(0, 2 * longestText);
}

function failed(tag: string, error: unknown): unknown {
  if (error instanceof Problem || isUnreachable(error)) return error;
  return buildFailed(tag, createBuildLog(), engineMessage(error));
}

/** Far above any line of a build's answer. */
const longestLine = 1024 * 1024;

/** The JSON documents of a stream with one per line; other lines are skipped. */
export async function* ndjsonLines<T>(stream: NodeJS.ReadableStream): AsyncGenerator<T> {
  let lines: string[] = [];
  const splitter = lineSplitter(longestLine, (line) => lines.push(line));
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    splitter.push(chunk);
    yield* lines.flatMap((line) => parsed<T>(line));
    lines = [];
  }
  splitter.end();
  yield* lines.flatMap((line) => parsed<T>(line));
}

function parsed<T>(line: string): T[] {
  try {
    return [JSON.parse(line) as T];
  } catch {
    // Invalid JSON, such as a proxy's page or half a line: the end of the build decides.
    return [];
  }
}

/** One step of a Dockerfile, as reported by a build. */
interface BuildStep {
  /** `3/9`. */
  readonly position: string;
  /** `RUN apt-get update`, on one line. */
  readonly instruction: string;
}

/** Lines that begin a step: `Step 3/9 : COPY …`, Podman's `STEP 3/9: COPY …`. */
const stepLine = /^step (\d+\/\d+) ?: ?(.+)/i;
/** The engine's own lines. */
const ownLine = /^(--->|-->|Removing intermediate container )/;
const keptLines = 5;

type BuildLog = ReturnType<typeof createBuildLog>;

/** The output of a build so far, as needed for the report of a failure. */
function createBuildLog() {
  let step: BuildStep | null = null;
  let lines: string[] = [];
  let open = "";
  const close = (text: string): BuildStep[] => {
    const line = oneLine(text);
    const [, position, instruction] = stepLine.exec(line) ?? [];
    if (position !== undefined && instruction !== undefined) {
      step = { position, instruction };
      lines = [];
      return [step];
    }
    if (line !== "" && !ownLine.test(line))
      lines = [...lines, line.slice(0, longestText)].slice(-keptLines);
    return [];
  };
  return {
    /** Adds a piece of the engine's output; returns the steps that begin in it. */
    add: (piece: string): readonly BuildStep[] => {
      const parts = (open + piece.replace(/\u001b\[[0-9;]*m/g, "")).split(/[\r\n]+/);
      open = parts.pop() ?? "";
      return parts.flatMap(close);
    },
    /** The current step; null before the first. */
    step: (): BuildStep | null => step,
    /** The last lines of that step. */
    lines: (): readonly string[] => {
      close(open);
      open = "";
      return lines;
    },
  };
}
