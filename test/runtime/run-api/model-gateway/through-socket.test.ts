import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { openBridge, type Bridge } from "../../../../src/runtime/harness/bridge/bridge.ts";
import { aModel } from "../../harness/jobs.ts";
import { hostModels } from "../../harness/model-host.ts";
import { openSocket, socketSide, type SocketOfRun, type SocketSide } from "../support.ts";
import { emptyAnswer, post, startProvider, type Provider } from "./support.ts";
import { completions } from "./wires/openai.ts";

let side: SocketSide;
let run: SocketOfRun;
let bridge: Bridge;
let provider: Provider;

/** Gives a run a model of this name. */
const host = (instanceId: string, name: string) =>
  hostModels(instanceId, [aModel(name, `${provider.origin}/v1`)], null);

beforeEach(async () => {
  side = await socketSide();
  provider = await startProvider(emptyAnswer);
  run = await openSocket(side, "dev-1");
  host("dev-1", "one");
  bridge = await openBridge(run);
});
afterEach(async () => {
  await bridge[Symbol.asyncDispose]();
  await side.remove();
});

const mebibyte = 1024 * 1024;
const large = { messages: [{ role: "user", content: "x".repeat(20 * mebibyte) }] };

describe("a model request through a run's socket", () => {
  /** Asks by a bridge, as a client inside of a run does. */
  function ask(body: unknown, { name = "one", headers = {}, by = bridge } = {}) {
    const url = by.baseUrl({ name }, `${provider.origin}/v1`);
    const authorization = `Bearer ${by.key}`;
    return post(`${url}/chat/completions`, body, { authorization, ...headers });
  }

  test("with another run's token is rejected at any size", async () => {
    const other = await openSocket(side, "dev-2");
    await using forged = await openBridge({ socket: run.socket, token: other.token });
    const reply = await ask(completions.body, { by: forged });
    expect(reply.status).toBe(401);
    expect(reply.text).toContain("The token does not belong to the run of this socket");
    // The connection may be closed while the body is sent.
    expect([401, 502]).toContain((await ask(large, { by: forged })).status);
    expect(provider.asked).toEqual([]);
    expect((await ask(large)).status).toBe(200);
  });
});

describe("a raw model request on a run's socket", () => {
  const head = (line: string, ...headers: readonly string[]) =>
    [line, "host: x", `authorization: Bearer ${run.token}`, ...headers, "", ""].join("\r\n");
  const path = () => `/model/one/${provider.host}/v1/chat/completions`;
  const line = () => `POST ${path()} HTTP/1.1`;

  /** The statuses of all answers until the server closes the connection, as it does after a last request. */
  async function answersTo(bytes: string): Promise<readonly string[]> {
    const client = connect(run.socket).on("error", () => undefined);
    client.write(bytes);
    const received = await text(client);
    return [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = ""]) => status);
  }

  test.each([
    ["an encoded slash", () => line().replace("/chat", "%2fchat")],
    ["dot segments", () => line().replace("/chat", "/x/../chat")],
  ])("with %s is not forwarded", async (_name, first) => {
    const statuses = await answersTo(
      `${head(first(), "content-length: 2", "connection: close")}{}`,
    );
    expect(statuses).toEqual([expect.stringMatching(/^4/)]);
    expect(provider.asked).toEqual([]);
  });

  test("over 32 MiB or of unknown length is not read", async () => {
    const announced = head(line(), `content-length: ${33 * mebibyte}`);
    expect(await answersTo(`${announced}{`)).toEqual(["413"]);
    const chunked = head(line(), "transfer-encoding: chunked", "connection: close");
    expect(await answersTo(`${chunked}2\r\n{}\r\n0\r\n\r\n`)).toEqual(["411"]);
    expect(provider.asked).toEqual([]);
  });
});
