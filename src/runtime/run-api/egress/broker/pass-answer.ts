import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { withoutHeaders } from "../../../../foundation/contracts/http-proxy.ts";
import { decoded } from "../../decoded.ts";
import { maskedBytes, maskedHeader } from "../../masked-bytes.ts";
import type { Mask } from "../../masked-bytes.ts";
import { responseLines } from "../forward-headers.ts";

export interface PassOptions {
  readonly masks: readonly Mask[];
  /** The request was one for the head alone. */
  readonly isHead: boolean;
}

const withoutBody = [204, 304];

/** Sends a host's answer on as it comes, with each secret masked. Rejects when either end breaks off. */
export async function passAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  { masks, isHead }: PassOptions,
): Promise<void> {
  const { statusCode = 502, statusMessage = "", headers } = answer;
  const hasBody = !isHead && !withoutBody.includes(statusCode);
  const body = hasBody ? decoded(answer, headers).body : answer;
  const isDecoded = body !== answer;
  if (hasBody) assertReadable(answer, isDecoded);
  const plain = (text: string) => maskedHeader(text, masks);
  const lines = withoutHeaders(responseLines(answer.rawHeaders), isDecoded ? ofEncoded : ofAll);
  response.sendDate = false;
  response.writeHead(statusCode, plain(statusMessage), lines.map(plain));
  response.flushHeaders();
  await pipeline(body, (bytes: AsyncIterable<Buffer>) => maskedBytes(bytes, masks), response);
}

/** Throws, and lets the host go, when a secret could be in the body in a form that is not looked for. */
function assertReadable(answer: IncomingMessage, isDecoded: boolean): void {
  const { "content-encoding": encoding = "identity", "transfer-encoding": coding = "chunked" } =
    answer.headers;
  const unread = [
    ...(isDecoded || encoding === "identity" ? [] : [`the encoding ${JSON.stringify(encoding)}`]),
    ...(coding.toLowerCase() === "chunked"
      ? []
      : [`the transfer coding ${JSON.stringify(coding)}`]),
  ];
  if (unread.length === 0) return;
  answer.destroy();
  throw new Error(`it answers in ${unread.join(" and ")}, which can't be read`);
}

/** Another protocol would go past the scheduler. */
const ofAll = new Set(["alt-svc"]);
const ofEncoded = new Set([...ofAll, "content-encoding", "content-length"]);
