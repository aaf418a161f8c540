import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { endServer, listen } from "./listen.ts";

/** One request, as far as the answer needs it. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: { readonly digest: string; readonly size: number };
  /** The digest that an upload is to have. */
  readonly wanted: string;
}

interface Answered {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A registry that takes what an engine pushes, as far as the engine can tell. `login` is `user:password`, without which
 * it takes nothing.
 */
export async function standInRegistry(login: string | null = null) {
  const store = emptyStore();
  let isRefusing = false;
  const expected = login === null ? null : `Basic ${Buffer.from(login).toString("base64")}`;
  const mayCome = (authorization: string | undefined) =>
    !isRefusing && (expected === null || authorization === expected);
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { method = "", url = "", headers } = request;
      const { pathname: path, searchParams } = new URL(url, "http://registry");
      const asked = { method, path, body, wanted: searchParams.get("digest") ?? "" };
      const given = mayCome(headers.authorization) ? answerTo(asked, store) : unauthorized;
      const version = { "docker-distribution-api-version": "registry/2.0" };
      response.writeHead(given.status, { ...version, ...given.headers }).end();
    });
  });
  return {
    /** `127.0.0.1:<port>`: engines speak plain HTTP to addresses of their own machine. */
    host: `127.0.0.1:${await listen(server)}`,
    /** Names with their tags, in the order in which they came. */
    names: (): readonly string[] => store.names,
    /** Refuses everything from now on, or nothing. */
    refuse: (given: boolean) => void (isRefusing = given),
    close: () => endServer(server),
  };
}

const unauthorized: Answered = {
  status: 401,
  headers: { "www-authenticate": 'Basic realm="test"' },
};

function emptyStore() {
  const names: string[] = [];
  /** Sizes by path, and by digest. */
  return { names, uploads: new Map<string, number>(), blobs: new Map<string, number>() };
}

function answerTo(asked: Asked, store: ReturnType<typeof emptyStore>): Answered {
  const { method, path, body } = asked;
  if (method === "HEAD") return blobAt(path, store);
  if (method === "POST") return { status: 202, headers: { location: `${path}${randomUUID()}` } };
  if (method === "PATCH") {
    store.uploads.set(path, body.size);
    return { status: 202, headers: { location: path, range: `0-${body.size - 1}` } };
  }
  if (method === "PUT") return put(asked, store);
  return { status: path === "/v2/" ? 200 : 404 };
}

function blobAt(path: string, { blobs }: ReturnType<typeof emptyStore>): Answered {
  const digest = path.slice(path.lastIndexOf("/") + 1);
  const size = blobs.get(digest);
  if (size === undefined) return { status: 404 };
  return {
    status: 200,
    headers: { "content-length": String(size), "docker-content-digest": digest },
  };
}

function put({ path, body, wanted }: Asked, store: ReturnType<typeof emptyStore>): Answered {
  const [, name, tag = ""] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(path) ?? [];
  if (name !== undefined) {
    store.names.push(`${name}:${tag}`);
    return { status: 201, headers: { "docker-content-digest": body.digest } };
  }
  store.blobs.set(wanted, store.uploads.get(path) ?? body.size);
  return { status: 201, headers: { "docker-content-digest": wanted, location: path } };
}

async function bodyOf(request: IncomingMessage) {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { digest: `sha256:${hash.digest("hex")}`, size };
}
