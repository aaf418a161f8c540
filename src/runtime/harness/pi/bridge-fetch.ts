import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

const statusesWithoutBody = [204, 205, 304];

/**
 * `fetch` for pi's clients, by Node's own HTTP client: their one server is the bridge of this process. Node's own `fetch`
 * compiles a parser first, and cuts an answer that is silent for 300 s; the harness has its own, maybe longer limit. The
 * body is a string; redirects are not followed.
 */
export const bridgeFetch: typeof fetch = async (url, { method, headers, body, signal } = {}) => {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, headers: { ...Object.fromEntries(new Headers(headers)), ...plain } };
    const asked = request(url as string | URL, {
      ...options,
      agent: false,
      ...(signal && { signal }),
    });
    asked.once("response", resolve).once("error", reject).end(body);
  });
  const { statusCode: status = 502, statusMessage: statusText = "", rawHeaders } = answer;
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 ? [] : [[name, rawHeaders[index + 1] ?? ""] as [string, string]],
  );
  const hasBody = !statusesWithoutBody.includes(status);
  return new Response(hasBody ? (Readable.toWeb(answer) as ReadableStream) : null, {
    status,
    statusText,
    headers: pairs,
  });
};

/** Node's HTTP client unpacks nothing. */
const plain = { "accept-encoding": "identity" };
