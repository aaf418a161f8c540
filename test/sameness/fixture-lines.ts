import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The lines of a fixture; they also hold the requests whose answers they keep. */
function linesOf(file: string): readonly unknown[] {
  const text = readFileSync(join(import.meta.dirname, file), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

type Asked = readonly [request: string, payload: object | null];
type Decided = readonly [route: string, url: string, statuses: Readonly<Record<string, number>>];

/** Requests of the operator's API, then those that it refuses. A line ends with its status, answer and calls. */
export const requests = linesOf("operations.jsonl") as readonly Asked[];

/** The status that each API token gets, by the token's name: one with each scope, `all`, and `all-of-dev`. */
export const decisions = linesOf("token-decisions.jsonl") as readonly Decided[];

/** Whether a request goes to a route such as `POST /api/questions/{id}/answer`. */
export function isFor(route: string, request: string): boolean {
  return new RegExp(`^${route.replaceAll(/\{\w+\}/g, "[^/?]+")}(\\?|$)`).test(request);
}

/** The request to a URL of a route, with a body that the route accepts; a stream is only begun. */
export function requestTo(route: string, url: string) {
  const [verb = ""] = route.split(" ");
  const method = url.includes("stream") ? "HEAD" : (verb as "GET" | "POST");
  const payload = requests.find(([request]) => isFor(route, request))?.[1] ?? {};
  return { method, url, ...(method === "POST" && { payload }) };
}
