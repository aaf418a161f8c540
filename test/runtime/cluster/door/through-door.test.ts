import { once } from "node:events";
import { text } from "node:stream/consumers";
import { openBridge } from "../../../../src/runtime/harness/bridge/bridge.ts";
import { createRunApiClient } from "../../../../src/runtime/harness/run-api/client.ts";
import type { RequestAnswer } from "../../../../src/runtime/run-api/protocol.ts";
import type { Channel } from "../../../../src/runtime/cluster/remote-run/pipe-channel.ts";
import { hostModels } from "../../harness/model-host.ts";
import { aModel } from "../../harness/jobs.ts";
import { held } from "../../../helpers/fake-abilities.ts";
import { banner } from "../../run-api/egress/hosts.ts";
import { connectTo, egressSide, forward, getThrough } from "../../run-api/egress/support.ts";
import type { EgressSide } from "../../run-api/egress/support.ts";
import { post, startProvider } from "../../run-api/model-gateway/support.ts";
import { completions } from "../../run-api/model-gateway/wires/openai.ts";
import { never, resource } from "../../run-api/support.ts";
import { channelOf, doorSide, expectRun, tokenOf } from "./support.ts";
import type { DoorSide, TicketHolder } from "./support.ts";

let outside: EgressSide;
let side: DoorSide;
let run: TicketHolder;
/** The run's socket on the other machine. */
let socket: { readonly socket: string; readonly token: string };
let channel: Channel;
beforeEach(async () => {
  outside = await egressSide();
  side = await doorSide();
  side.serve({ egress: outside.egress });
  run = await expectRun(side, "dev-1");
  channel = await channelOf(side, run.name);
  socket = { socket: channel.path, token: await tokenOf(side, run) };
});
afterEach(async () => {
  channel[Symbol.dispose]();
  await side.remove();
  await outside.close();
});

const client = () => createRunApiClient(socket);

describe("through the door", () => {
  test("a run sends a request to the scheduler, and waits for its answer", async () => {
    const { promise, resolve } = held<RequestAnswer<"wait">>();
    side.now.abilities.answers.wait = () => promise;
    const waiting = client().ask("wait", { kind: "webhook" }, never);
    expect(await client().ask("lock", { resource }, never)).toMatchObject({ ok: true });
    resolve({ ok: true, timedOut: true, trigger: null });
    expect(await waiting).toMatchObject({ timedOut: true });
    expect(side.now.abilities.asked.map(({ instanceId }) => instanceId)).toEqual([
      "dev-1",
      "dev-1",
    ]);
  });

  test("a waiting request continues after a restart of the scheduler, under the same key", async () => {
    side.now.abilities.answers.wait = () => new Promise(() => undefined);
    const waiting = client().ask("wait", { kind: "webhook" }, never);
    const first = side.now.abilities;
    await expect.poll(() => first.asked.length).toBe(1);
    await side.restart(["dev-1"]);
    side.now.abilities.answers.wait = () => ({ ok: true, timedOut: true, trigger: null });
    side.serve();
    expect(await waiting).toMatchObject({ timedOut: true });
    expect(side.now.abilities.asked[0]?.key).toBe(first.asked[0]?.key);
  });

  test("a run calls its models, with a body and an answer of any length", async () => {
    const answer = "z".repeat(3_000_000);
    const provider = await startProvider((_asked, response) => {
      response.end(JSON.stringify({ choices: [{ message: { content: answer } }] }));
    });
    const model = aModel("one", `${provider.origin}/v1`, { key: "real-key" });
    hostModels("dev-1", [model], null);
    await using bridge = await openBridge({ runSocket: socket, onInterrupted: () => undefined });
    const url = `${bridge.baseUrl({ name: "one" }, `${provider.origin}/v1`)}/chat/completions`;
    const large = { ...completions.body, messages: [{ role: "user", content: "x".repeat(9e6) }] };
    const reply = await post(url, large, { authorization: `Bearer ${bridge.key}` });
    expect(reply.status).toBe(200);
    expect(reply.text).toContain(answer);
    expect(provider.asked[0]?.headers.authorization).toBe("Bearer real-key");
  });

  test("a run reaches its allowed hosts, and no other", async () => {
    const tunnel = await connectTo(socket, "api.allowed.test:443");
    const answer = await getThrough(tunnel.socket, "https://api.allowed.test/", outside.hosts);
    expect(answer).toMatchObject({ status: 200, body: "hello from api.allowed.test" });
    expect(await outside.reported(1)).toMatchObject({ instanceId: "dev-1", denied: null });
    expect(await forward(socket, "http://api.allowed.test/")).toMatchObject({ status: 200 });
    expect(await connectTo(socket, "evil.test:443")).toMatchObject({ status: 403 });
    const forged = { ...socket, token: "A".repeat(43) };
    expect(await connectTo(forged, "api.allowed.test:443")).toMatchObject({ status: 407 });
  });

  test("each direction of a tunnel ends by itself", async () => {
    const { socket: tunnel } = await connectTo(socket, "api.allowed.test:22");
    const received = text(tunnel);
    await expect.poll(() => outside.hosts.ssh.length).toBe(1);
    const [ssh] = outside.hosts.ssh;
    if (ssh === undefined) throw new Error("no connection");
    const sent = text(ssh);
    tunnel.end("SSH-2.0-run\r\n");
    expect(await sent).toBe("SSH-2.0-run\r\n");
    ssh.end("later");
    expect(await received).toBe(`${banner}later`);
  });

  test("an ended run can send nothing: its tunnels are cut, and new ones rejected", async () => {
    const { socket: tunnel } = await connectTo(socket, "api.allowed.test:22");
    await once(tunnel, "data");
    tunnel.resume();
    run.runSocket[Symbol.dispose]();
    await once(tunnel, "close");
    expect(await connectTo(socket, "api.allowed.test:443")).toMatchObject({ status: 407 });
    await expect(client().ask("lock", { resource }, never)).rejects.toMatchObject({
      problem: { error: "unauthorized" },
    });
    expect(side.now.abilities.asked).toEqual([]);
  });
});
