import { refProblem, type RefChange } from "../../../../foundation/contracts/git-names.ts";

/** The head of a request of `git push`. */
export interface PushCommands {
  readonly changes: readonly RefChange[];
  readonly capabilities: readonly string[];
}

/** The longest head that is read, and the most refs of one push. */
const maxHeadBytes = 256 * 1024;
const maxChanges = 1000;
/** The most bytes of one line (gitprotocol-common(5)). */
const maxLineBytes = 65_520;

const objectId = "([0-9a-f]{40}|[0-9a-f]{64})";
const shallowLine = new RegExp(`^shallow ${objectId}$`);
const commandLine = new RegExp(`^${objectId} (?<to>${objectId}) (?<ref>.+)$`, "s");

/** The head of a push can't be read, so nothing of it is forwarded. */
export class UnreadablePush extends Error {}

/**
 * Reads the commands of a push from the beginning of its body; null while more bytes are needed. A body that is a
 * flush alone is git's question whether it may push, without a change. Throws `UnreadablePush` for anything that two
 * programs could read differently, such as a signed push (gitprotocol-pack(5), "Reference Update Request").
 */
export function readPushCommands(body: Buffer, isWhole: boolean): PushCommands | null {
  const commands: string[] = [];
  for (let at = 0; ;) {
    const line = lineAt(body, at);
    if (line === null) {
      if (isWhole) throw new UnreadablePush("it ends within its list of refs");
      if (body.length > maxHeadBytes) throw new UnreadablePush("its list of refs is too long");
      return null;
    }
    at = line.end;
    if (line.text !== null) commands.push(line.text);
    else if (commands.length > 0) return pushOf(commands);
    else if (body.length > at) throw new UnreadablePush("it changes no ref and goes on");
    else return isWhole ? pushOf([]) : null;
  }
}

/** Capabilities follow the first change, and shallow commits come before it. */
function pushOf(lines: readonly string[]): PushCommands {
  if (lines.length === 0) return { changes: [], capabilities: [] };
  const first = lines.findIndex((line) => !shallowLine.test(line));
  const [head = "", ...others] = lines.slice(first);
  const [command = "", words = "", ...more] = head.split("\0");
  if (first === -1 || more.length > 0) throw new UnreadablePush("its list of refs is odd");
  if (others.length >= maxChanges) throw new UnreadablePush("it changes too many refs");
  const changes = [command, ...others].map(changeOf);
  return { changes, capabilities: words.split(" ").filter(Boolean) };
}

/** The packet line at a place, without its line break; text null for a flush. Null if it is not whole. */
function lineAt(body: Buffer, at: number) {
  if (body.length < at + 4) return null;
  const prefix = body.toString("latin1", at, at + 4);
  if (!/^[0-9a-f]{4}$/i.test(prefix)) throw new UnreadablePush("it is not in packet lines");
  const length = parseInt(prefix, 16);
  if (length === 0) return { text: null, end: at + 4 };
  if (length < 5 || length > maxLineBytes) throw new UnreadablePush("a line has a wrong length");
  const end = at + length;
  if (body.length < end) return null;
  const bytes = body.subarray(at + 4, end);
  const text = bytes.toString("utf8");
  if (!Buffer.from(text).equals(bytes)) throw new UnreadablePush("a name is not UTF-8");
  return { text: text.replace(/\n$/, ""), end };
}

function changeOf(command: string): RefChange {
  const { to = "", ref = "" } = commandLine.exec(command)?.groups ?? {};
  if (ref === "") throw new UnreadablePush("a line is not a change of a ref");
  if (!ref.startsWith("refs/") || refProblem(ref) !== null)
    throw new UnreadablePush("a name is not a full ref");
  return { ref, isDeletion: /^0+$/.test(to) };
}
