import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { ticketSchema } from "../../../foundation/contracts/remote-run.ts";
import type { Ticket } from "../../../foundation/contracts/remote-run.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { hostAndPortOf } from "../host-and-port.ts";

/** A certificate has a few thousand bytes. */
const maxTicketBytes = 64 * 1024;

/** The run's ticket, from the file at `path`, or from standard input (`-`). No error has anything of it. */
export async function readTicket(path: string, input: Readable): Promise<Ticket> {
  const text = path === "-" ? await firstLineOf(input) : await fileAt(path);
  const ticket = ticketSchema.safeParse(jsonOf(text, path));
  if (ticket.success) return usable(ticket.data, path);
  const fields = ticket.error.issues.map((issue) => `${issue.path.join(".")} (${issue.code})`);
  throw new Error(`the ticket in ${nameOf(path)} is not valid: ${fields.join(", ")}`);
}

/** What would fail at each attempt to reach the door fails here. */
function usable(ticket: Ticket, path: string): Ticket {
  hostAndPortOf(ticket.door);
  try {
    new X509Certificate(ticket.certificate);
  } catch {
    throw new Error(`the ticket in ${nameOf(path)} has a certificate that cannot be read`);
  }
  return ticket;
}

async function fileAt(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    throw new Error(`the run's ticket cannot be read: ${messageOf(error)}`, { cause: error });
  });
}

/** Its end is as good as a newline. What follows the line is ignored. */
async function firstLineOf(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (chunk.includes("\n") || size > maxTicketBytes) break;
  }
  const [line = ""] = Buffer.concat(chunks).toString("utf8").split("\n");
  return line;
}

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes what it read.
    throw new Error(`the ticket in ${nameOf(path)} is not JSON`);
  }
}

function nameOf(path: string): string {
  return path === "-" ? "standard input" : path;
}
