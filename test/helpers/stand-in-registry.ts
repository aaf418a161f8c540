import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import { endServer, listen } from "./listen.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
  /** The digest that an upload is to have. */
  readonly wanted: string | null;
}

interface Stored {
  readonly names: string[];
  /** By the path of an upload, and by digest. */
  readonly sizes: Map<string, number>;
}

/**
 * A registry that takes what an engine pushes, as far as the engine can tell. `login` is
 * `user:password`, without which it takes nothing.
 */
export async function standInRegistry(login: string | null = null) {
  const stored: Stored = { names: [], sizes: new Map() };
  let isRefusing = false;
  const expected = login === null ? null : `Basic ${Buffer.from(login).toString("base64")}`;
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { method = "", url = "", headers } = request;
      const { pathname: path, searchParams } = new URL(url, "http://registry");
      const mayCome = !isRefusing && (expected === null || headers.authorization === expected);
      const asked = { method, path, body, wanted: searchParams.get("digest") };
      const [status, given] = mayCome ? answerTo(asked, stored) : unauthorized;
      const version = { "docker-distribution-api-version": "registry/2.0" };
      response.writeHead(status, { ...version, ...given }).end();
    });
  });
  return {
    /** `127.0.0.1:<port>`: engines speak plain HTTP to addresses of their own machine. */
    host: `127.0.0.1:${await listen(server)}`,
    /** Names with their tags, in the order in which they came. */
    names: (): readonly string[] => stored.names,
    /** Refuses everything from now on, or nothing. */
    refuse: (given: boolean) => void (isRefusing = given),
    close: () => endServer(server),
  };
}

type Answer = readonly [status: number, headers?: Readonly<Record<string, string>>];

const unauthorized: Answer = [401, { "www-authenticate": 'Basic realm="test"' }];

function answerTo({ method, path, body, wanted }: Asked, { names, sizes }: Stored): Answer {
  if (method === "GET") return [path === "/v2/" ? 200 : 404];
  if (method === "HEAD") return blobOf(basename(path), sizes);
  if (method === "POST") return [202, { location: `${path}${randomUUID()}` }];
  if (method === "PATCH") {
    sizes.set(path, body.length);
    return [202, { location: path, range: `0-${body.length - 1}` }];
  }
  const [, name, tag] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(path) ?? [];
  if (name !== undefined) names.push(`${name}:${tag}`);
  const digest = wanted ?? `sha256:${createHash("sha256").update(body).digest("hex")}`;
  sizes.set(digest, sizes.get(path) ?? body.length);
  return [201, { "docker-content-digest": digest, location: path }];
}

function blobOf(digest: string, sizes: Stored["sizes"]): Answer {
  const size = sizes.get(digest);
  if (size === undefined) return [404];
  return [200, { "content-length": String(size), "docker-content-digest": digest }];
}
