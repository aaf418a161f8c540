import { getCurrentSystemMessage, type Message } from "@earendil-works/pi-ai";
import { SessionManager, type AgentSession } from "@earendil-works/pi-coding-agent";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { piSessionFolder } from "../../../../streams/harnesses.ts";
import type { Job } from "../../../foundation/contracts/job.ts";
import { maxTextLength } from "../../wire/requests/row.ts";
import { cut } from "../message-writer.ts";

/** The most characters of a kept session. */
const maxCharacters = 2 * 1024 * 1024;
/** Limits for each string of a message that is too long, in characters, tried in this order. */
const stringLimits = [16_384, 4_096, 512, 64];

interface Conversation {
  readonly convertToLlm: Agent["convertToLlm"];
  readonly state: AgentState;
}
type AgentState = Agent["state"];
type Agent = AgentSession["agent"];
type Redact = (value: unknown) => unknown;

/**
 * The conversation of a session as the model sees it, one message a line, without secrets and pictures. Of a long one the
 * beginning is left out, and a message says so.
 */
export async function keptLines(
  { state: { messages }, convertToLlm }: Conversation,
  redact: Redact,
): Promise<readonly string[]> {
  const system = getCurrentSystemMessage(messages);
  const talk = (await convertToLlm(messages)).filter(({ role }) => role !== "system");
  const lines = talk.map((message) => keptLine(message, redact));
  let [start, characters] = [lines.length, 0];
  while (start > 0 && characters + (lines[start - 1]?.length ?? 0) < maxCharacters) {
    start -= 1;
    characters += lines[start]?.length ?? 0;
  }
  // A result without its call is refused by providers.
  while (start > 0 && talk[start]?.role === "toolResult") start += 1;
  const head: readonly Message[] = [
    ...(system === undefined ? [] : [system]),
    ...(start === 0 ? [] : [leftOut(start)]),
  ];
  return [...head.map((message) => keptLine(message, redact)), ...lines.slice(start)];
}

/** Writes the session into the folder that the run sends. */
export async function writeSession(workDir: string, lines: readonly string[]): Promise<void> {
  const path = sessionFile(workDir);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, `${lines.join("\n")}\n`, { mode: 0o600 });
}

/** A session that begins with the messages of the one that the run continues. */
export async function restoredSession({ workDir, continues }: Job): Promise<SessionManager> {
  const manager = SessionManager.inMemory(workDir);
  if (continues === undefined) return manager;
  const lines = (await readFile(sessionFile(workDir), "utf8")).trimEnd().split("\n");
  for (const line of lines) manager.appendMessage(JSON.parse(line) as Message);
  return manager;
}

function sessionFile(workDir: string): string {
  return join(workDir, piSessionFolder, "session.jsonl");
}

function leftOut(count: number): Message {
  const text = `[The first ${count} messages of this session are left out.]`;
  return { role: "user", content: [{ type: "text", text }], timestamp: Date.now() };
}

/** Fields that providers compare with their own. */
const identifiers = /id$|signature$/i;

/** Redacted before it is cut, because half of a secret is not recognized. */
function keptLine(message: Message, redact: Redact): string {
  const safe = redact(withoutPictures(message)) as Message;
  for (const limit of [Infinity, ...stringLimits]) {
    const shorten = (key: string, value: unknown) =>
      typeof value === "string" && !identifiers.test(key) ? cut(value, limit) : value;
    const short = JSON.parse(JSON.stringify(safe), shorten) as Message;
    const line = JSON.stringify(withWholeThoughts(short, message));
    if (line.length <= maxTextLength) return line;
  }
  // Reached only by a message with a huge number of small values.
  const calls = partsOf(safe).filter((part) => part.type === "toolCall");
  const content = [...calls.map((call) => ({ ...call, arguments: {} })), gap];
  return JSON.stringify({ ...safe, content, details: undefined });
}

type Part = Exclude<Message["content"], string>[number];

const gap: Part = { type: "text", text: "[left out]" };

function withoutPictures(message: Message): Message {
  return mapParts(message, (part) => (part.type === "image" ? gap : part));
}

/** Providers sign thoughts: a changed one would be refused, one that is absent is not. */
function withWholeThoughts(short: Message, whole: Message): Message {
  const thoughts = new Set(partsOf(whole).map((part) => JSON.stringify(part)));
  const content = partsOf(short).filter(
    (part) => part.type !== "thinking" || thoughts.has(JSON.stringify(part)),
  );
  return typeof short.content === "string" ? short : ({ ...short, content } as Message);
}

function partsOf({ content }: Message): readonly Part[] {
  return typeof content === "string" ? [] : content;
}

function mapParts(message: Message, map: (part: Part) => Part): Message {
  if (typeof message.content === "string") return message;
  return { ...message, content: partsOf(message).map(map) } as Message;
}
