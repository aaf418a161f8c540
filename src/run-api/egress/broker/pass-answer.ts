import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { decoded } from "../../model-gateway/decoded.ts";
import { maskedBytes, maskedHeader } from "../../masked-bytes.ts";
import type { Mask } from "../../masked-bytes.ts";
import { responseLines, withoutHeaders } from "../forward-headers.ts";

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
  const encoding = headers["content-encoding"] ?? "identity";
  if (hasBody && !isDecoded && encoding !== "identity") {
    answer.destroy();
    throw new Error(`it answers in the encoding ${JSON.stringify(encoding)}, which can't be read`);
  }
  const plain = (text: string) => maskedHeader(text, masks);
  const lines = withoutHeaders(responseLines(answer.rawHeaders), isDecoded ? ofEncoded : ofAll);
  response.sendDate = false;
  response.writeHead(statusCode, plain(statusMessage), lines.map(plain));
  response.flushHeaders();
  await pipeline(body, (bytes: AsyncIterable<Buffer>) => maskedBytes(bytes, masks), response);
}

/** Another protocol would go past the scheduler. */
const ofAll = ["alt-svc"];
const ofEncoded = [...ofAll, "content-encoding", "content-length"];
