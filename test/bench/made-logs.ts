import { appendFileSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { logFileOf, logsDir } from "../../src/foundation/logs/log-files.ts";
import { contentOf } from "../../src/features/search/log-cursor.ts";
import { randomBy } from "../helpers/random.ts";

const agents = 30;
const days = 14;
const linesPerRun = 200;
const dayMs = 86_400_000;
const firstDay = Date.UTC(2026, 9, 20);
const kinds = "said tool tool-result tool-result run".split(" ");

/** Words of this project's own pages in their order, as a model writes them, and other random numbers from 0 to 1. */
export function createWords(seed: number) {
  const root = resolve(import.meta.dirname, "../..");
  const pages = globSync("{src,streams,test,.}/**/*.md", { cwd: root, exclude: isForeign });
  const text = pages.sort().map((page) => readFileSync(join(root, page), "utf8"));
  const all = text.join(" ").split(/\s+/);
  const next = randomBy(seed);
  const words = (count: number): string[] => {
    const from = Math.floor(next() * (all.length - count));
    return all.slice(from, from + count);
  };
  return { next, words };
}

function isForeign(path: string): boolean {
  return /(^|\/)(node_modules|dist|\.[a-z]+)($|\/)/.test(path);
}

/** A line as a log writer has it. */
export function madeLine(
  { next, words }: ReturnType<typeof createWords>,
  run: { agent: string; instanceId: string; time: number },
): string {
  const text = words(8 + Math.floor(next() * 40));
  // Ids are in logs once each.
  text.push(`/srv/${Math.floor(next() * 1e9).toString(36)}:${Math.floor(next() * 900)}`);
  const kind = kinds[Math.floor(next() * kinds.length)] ?? "said";
  const isError = next() < 0.01;
  const [msg, output] = [text.slice(0, 6).join(" "), text.slice(6).join(" ")];
  const rest =
    kind === "tool-result" ? { tool: "bash", output, isError, msg } : { msg: text.join(" ") };
  return `${JSON.stringify({ level: isError ? 50 : 30, ...run, kind, ...rest })}\n`;
}

/** The end of an instance id, eight characters. */
function idOf(number: number): string {
  const letters = number.toString(16).replace(/[01]/g, "y").replace(/[89]/g, "z");
  return letters.padStart(8, "w");
}

/** Fills the logs of a project with two weeks of 30 agents, of about so many bytes. */
export function makeLogs(projectDir: string, wantedBytes: number) {
  const dir = logsDir(projectDir);
  mkdirSync(dir, { recursive: true });
  const words = createWords(7);
  const runs: string[] = [];
  let bytes = 0;
  let textBytes = 0;
  for (let i = 0; i < days * agents; i++) {
    const agent = `agent-${i % agents}`;
    const begin = firstDay + Math.floor(i / agents) * dayMs;
    const lines: string[] = [];
    for (let size = 0; size < wantedBytes / days / agents; size += lines.at(-1)?.length ?? 0) {
      if (lines.length % linesPerRun === 0) runs.push(`${agent}-${idOf(runs.length)}`);
      const instanceId = runs.at(-1) ?? agent;
      lines.push(madeLine(words, { agent, instanceId, time: begin + lines.length * 1_000 }));
    }
    const text = lines.join("");
    appendFileSync(join(dir, logFileOf(agent, begin).name), text);
    bytes += text.length;
    textBytes += textIn(lines);
  }
  return {
    /** Size of all log files. */
    bytes,
    /** Searchable part of them, in UTF-8 bytes. */
    textBytes,
    /** The instance ids, oldest first. */
    runs,
  };
}

/** UTF-8 bytes that can be found; a sample is enough. */
function textIn(lines: readonly string[]): number {
  const sample = lines.filter((_, i) => i % 50 === 0).map((line) => contentOf(line.trimEnd()));
  const texts = sample.map((content) => Buffer.byteLength(content?.text ?? ""));
  return (texts.reduce((sum, size) => sum + size, 0) / sample.length) * lines.length;
}
