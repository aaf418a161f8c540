import { lineSplitter } from "../../../contracts/line-splitter.ts";

/** No line of a build's answer is near this. */
const longestLine = 1024 * 1024;

/** The JSON documents of a stream that holds one a line; what is no JSON is left out. */
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
    // A proxy's page or half a line of a connection that broke: the build's own end tells what became of it.
    return [];
  }
}
