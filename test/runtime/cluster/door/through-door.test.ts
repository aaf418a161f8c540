import { openBridge } from "../../../../src/runtime/harness/bridge/bridge.ts";
import { createRunApiClient } from "../../../../src/runtime/harness/run-api/client.ts";
import { hostModels } from "../../harness/model-host.ts";
import { aModel } from "../../harness/jobs.ts";
import { connectTo, egressSide, forward, getThrough } from "../../run-api/egress/support.ts";
import { post, startProvider } from "../../run-api/model-gateway/support.ts";
import { completions } from "../../run-api/model-gateway/wires/openai.ts";
import { never as neverAborted, resource } from "../../run-api/support.ts";
import { aDoor } from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const outside = perTest(egressSide, (outside) => outside.close());
const { side, ...door } = aDoor();
const channel = perTest(door.openChannel, (channel) => channel[Symbol.dispose]());
/** The run's socket on the other machine. */
const socket = perTest(async () => {
  side().serve({ egress: outside().egress });
  return { socket: channel().path, token: await door.tokenOf() };
});

const client = () => createRunApiClient(socket());

describe("through the door", () => {
  test("a run waits for the scheduler's answer, across a restart too", async () => {
    side().now.abilities.answers.wait = () => new Promise(() => undefined);
    const first = side().now.abilities;
    const waiting = client().ask("wait", { kind: "webhook" }, neverAborted);
    expect(await client().ask("lock", { resource }, neverAborted)).toMatchObject({ ok: true });
    await expect.poll(() => first.asked.length).toBe(2);
    await side().restart(["dev-1"]);
    side().now.abilities.answers.wait = () => ({ ok: true, timedOut: true, trigger: null });
    side().serve();
    expect(await waiting).toMatchObject({ timedOut: true });
    const wait = first.asked.find(({ ability }) => ability === "wait");
    expect(side().now.abilities.asked).toMatchObject([{ instanceId: "dev-1", key: wait?.key }]);
  });

  test("a run calls its models, with bodies of any length", async () => {
    const answer = "z".repeat(3_000_000);
    const provider = await startProvider((_asked, response) => {
      response.end(JSON.stringify({ choices: [{ message: { content: answer } }] }));
    });
    const origin = `${provider.origin}/v1`;
    hostModels("dev-1", [aModel("one", origin, { key: "real-key" })], null);
    await using bridge = await openBridge(socket());
    const url = `${bridge.baseUrl({ name: "one" }, origin)}/chat/completions`;
    const large = { ...completions.body, messages: [{ role: "user", content: "x".repeat(9e6) }] };
    const reply = await post(url, large, { authorization: `Bearer ${bridge.key}` });
    expect(reply.status).toBe(200);
    expect(reply.text).toContain(answer);
    expect(provider.asked[0]?.headers.authorization).toBe("Bearer real-key");
  });

  test("a run reaches its allowed hosts, and no other", async () => {
    const tunnel = await connectTo(socket(), "api.allowed.test:443");
    const answer = await getThrough(tunnel.socket, "https://api.allowed.test/", outside().hosts);
    expect(answer).toMatchObject({ status: 200, body: "hello from api.allowed.test" });
    expect(await outside().reported(1)).toMatchObject({ instanceId: "dev-1", denied: null });
    expect(await forward(socket(), "http://api.allowed.test/")).toMatchObject({ status: 200 });
    expect(await connectTo(socket(), "evil.test:443")).toMatchObject({ status: 403 });
    const forged = { ...socket(), token: "A".repeat(43) };
    expect(await connectTo(forged, "api.allowed.test:443")).toMatchObject({ status: 407 });
  });
});
