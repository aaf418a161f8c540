import { ReadBuffer } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Job } from "../../../foundation/contracts/job.ts";
import { mcpLimits } from "../../../foundation/contracts/mcp.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { connectMcp, type McpClient } from "../../wire/mcp-client.ts";

export type JobServer = NonNullable<Job["mcp"]>[number];
export type Env = Readonly<Record<string, string>>;

/** How much of a program's last errors is logged, in characters. */
const shownErrors = 500;

interface ProgramEvents {
  /** It ended or failed to start, with its last errors. */
  readonly onEnd: (errors: string) => void;
  readonly onToolsChanged: () => void;
}

/** Starts a server's program, and connects to it. */
export async function startProgram(
  { command, timeoutSeconds }: JobServer,
  env: Env,
  cwd: string,
  { onEnd, onToolsChanged }: ProgramEvents,
): Promise<McpClient> {
  const [program = "", ...args] = command ?? [];
  const transport = new ServerTransport({
    command: program,
    args,
    env: { ...env },
    cwd,
    stderr: "pipe",
  });
  let errors = "";
  let hasEnded = false;
  const isOver = (): boolean => hasEnded;
  transport.stderr?.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-shownErrors);
  });
  const end = (): void => {
    hasEnded = true;
    onEnd(errors.trim());
  };
  const fail = (error: unknown): never => {
    if (!hasEnded) throw error;
    const text = [messageOf(error), errors.trim()].filter((part) => part !== "").join(": ");
    throw new Error(text, { cause: error });
  };
  transport.onclose = end;
  try {
    const options = { timeoutMs: timeoutSeconds * 1000, onToolsChanged };
    const client = await connectMcp(transport, options);
    return { ...client, call: (...asked) => client.call(...asked).catch(fail) };
  } catch (error) {
    const hasStarted = !messageOf(error).startsWith("spawn ");
    const isGone = isOver() && hasStarted;
    const problem = isGone ? "its program ended before it answered" : messageOf(error);
    if (!isOver()) end();
    const last = lastError(errors);
    throw new Error(last === "" ? problem : `${problem}: ${last}`, { cause: error });
  }
}

/** Without the places in code and the version, by which Node ends an error. */
function lastError(errors: string): string {
  const lines = errors.split("\n").filter((line) => /^(?!Node\.js v)\S/.test(line));
  return lines.at(-1) ?? "";
}

/** A subclass: the SDK tries the protocol's revisions on its own class by a second process. */
class ServerTransport extends StdioClientTransport {
  constructor(program: ConstructorParameters<typeof StdioClientTransport>[0]) {
    super(program);
    // The SDK has no option for its buffer of messages: a long one would end the program, and all its calls.
    Object.assign(this, { _readBuffer: new BoundedMessages() });
  }
}

const newline = 0x0a;
/** How many bytes at each end of a message are searched for the id of its call. */
const idBytes = 200;
const firstId = /^\{(?:"jsonrpc":"2\.0",)?"id":(\d+)/;
const lastId = /"id":(\d+)(?:,"jsonrpc":"2\.0")?\}$/;

/** A short message whose result is null, which the SDK does not read: its call would wait for its time limit. */
const isNullResult = /^(\{(?:"(?:jsonrpc|id)":\s*[\w".-]+,\s*)*"result":\s*)null(?=[,}])/;

/** Replaces a message that is too long by the failure of its call; the SDK would end the program, and all its calls. */
class BoundedMessages extends ReadBuffer {
  #bytes = 0;
  #start = "";
  #end = "";

  override append(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      const length = rest.indexOf(newline) + 1 || rest.length;
      this.#add(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  }

  #add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#start.length < idBytes) this.#start += part.toString("latin1", 0, idBytes);
    this.#end = (this.#end + part.toString("latin1", part.length - idBytes)).slice(-idBytes);
    const isWhole = part.at(-1) === newline;
    if (
      isWhole &&
      this.#bytes === part.length &&
      part.length <= idBytes &&
      isNullResult.test(this.#start)
    )
      super.append(Buffer.from(this.#start.replace(isNullResult, "$1{}")));
    else if (this.#bytes <= mcpLimits.answerBytes) super.append(part);
    else {
      // The beginning of a line: earlier messages were read, as one chunk is shorter than the limit.
      this.clear();
      if (isWhole) super.append(this.#failure());
    }
    if (!isWhole) return;
    this.#bytes = 0;
    this.#start = this.#end = "";
  }

  #failure(): Buffer {
    const compact = (text: string) => text.replaceAll(/[\s]+/g, "");
    const [, id] = firstId.exec(compact(this.#start)) ?? lastId.exec(compact(this.#end)) ?? [];
    const message = `its answer is longer than ${mcpLimits.answerBytes / 1024 / 1024} MiB`;
    const failed = { jsonrpc: "2.0", id: Number(id), error: { code: -32_000, message } };
    return Buffer.from(`${JSON.stringify(failed)}\n`);
  }
}
